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

/// Opens device `ordinal`. Throws DeviceError kNoDevice where cuda_availability() says no.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(int ordinal);

}  // namespace graphsan::device
