#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device.hpp"

namespace graphsan::device {

struct HostDeviceOptions {
  /// Orders graph branches that have no edge between them.
  std::uint64_t seed = 1;
  /// Size of the simulated device memory; allocations beyond it throw kOutOfMemory.
  std::size_t memory_bytes = std::size_t{8} << 30;
};

/// CUDA's streams, capture and graphs simulated on the CPU. Claims nothing about a GPU.
[[nodiscard]] std::unique_ptr<Device> make_host_device(const HostDeviceOptions& options);

}  // namespace graphsan::device
