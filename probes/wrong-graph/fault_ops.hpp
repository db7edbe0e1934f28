#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// chosen[i] = slots[i] where lane i's position begins a block, if `first` is 1, or does not, if it
/// is 0; else -1.
struct ChooseSlots {
  static constexpr const char* kName = "choose_slots";
  std::int64_t count;
  std::int64_t* chosen;
  const std::int64_t* slots;
  const std::int64_t* positions;
  std::int64_t block;
  std::int64_t first;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t begins = positions[i] % block == 0 ? 1 : 0;
    chosen[i] = begins == first ? slots[i] : -1;
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},     {"chosen", 8, 8, true, true}, {"slots", 16, 8, true},
      {"positions", 24, 8, true}, {"block", 32, 8, false},      {"first", 40, 8, false}};
};

}  // namespace graphsan::faults
