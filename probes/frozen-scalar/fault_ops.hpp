#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// clamped[i] = min(lengths[i], longest).
struct ClampLengths {
  static constexpr const char* kName = "clamp_lengths";
  std::int64_t count;
  std::int32_t* clamped;
  const std::int32_t* lengths;
  std::int64_t longest;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    clamped[i] = lengths[i] < longest ? lengths[i] : static_cast<std::int32_t>(longest);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"clamped", 8, 8, true, true},
                                                          {"lengths", 16, 8, true},
                                                          {"longest", 24, 8, false}};
};

}  // namespace graphsan::faults
