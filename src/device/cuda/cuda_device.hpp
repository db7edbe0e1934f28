#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"

namespace graphsan::device {

/// Whether a CUDA device can be opened, and if not, why and what to do, in one sentence each.
struct CudaAvailability {
  bool available = false;
  std::string reason;
  std::string remedy;
};

/// Never throws and creates no context. In a build without CUDA: unavailable, and it says so.
[[nodiscard]] CudaAvailability cuda_availability();

/// The device that is current on the calling thread; 0 where none was chosen. Throws DeviceError
/// where cuda_availability() says no.
[[nodiscard]] int current_cuda_device();

/// Opens device `ordinal`. Throws DeviceError kNoDevice where cuda_availability() says no.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(int ordinal);

}  // namespace graphsan::device
