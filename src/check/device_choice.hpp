#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "model/run_report.hpp"

namespace graphsan::check {

/// `--device`: a GPU where there is one, else the host device; or one of the two.
enum class DeviceChoice : std::uint8_t { kAuto, kCuda, kHost };

/// A GPU was asked for and none is there. `what()` is the reason.
class NoGpuError : public std::runtime_error {
 public:
  NoGpuError(const std::string& reason, std::string remedy)
      : std::runtime_error{reason}, remedy_{std::move(remedy)} {}
  [[nodiscard]] const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// Opens the device: of several GPUs the one that is current on the calling thread. Initialises
/// CUDA unless the host device is asked for: never call it where a worker is forked afterwards.
/// Throws NoGpuError, DeviceError.
[[nodiscard]] std::unique_ptr<device::Device> open_device(DeviceChoice choice, std::uint64_t seed);

/// What a report says of the device and the machine.
[[nodiscard]] model::Environment describe_environment(const device::Device& device);

}  // namespace graphsan::check
