#pragma once

#include "device/host/host_device.hpp"
#include "tests/support/device_contract.hpp"

namespace graphsan::test {

/// The host device as the contract's device.
inline DeviceUnderTest host_device_under_test() {
  constexpr std::size_t kMemoryBytes = std::size_t{64} << 20;
  return {"host", [] { return device::make_host_device({.memory_bytes = kMemoryBytes}); }};
}

}  // namespace graphsan::test
