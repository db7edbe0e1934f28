#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// kept[i] = slots[i] for the lanes below the total, which is the last entry of the running token
/// counts; -1 for the others.
struct KeepBelowTotal {
  static constexpr const char* kName = "keep_below_total";
  std::int64_t count;
  std::int64_t* kept;
  const std::int64_t* slots;
  const std::int64_t* ends;  ///< [count]: tokens up to and with each lane
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    kept[i] = i < ends[count - 1] ? slots[i] : -1;
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"kept", 8, 8, true, true},
                                                          {"slots", 16, 8, true},
                                                          {"ends", 24, 8, true}};
};

/// reordered[order[lane]] = sequences[lane], lane by lane; negative entries are passed over. One
/// element.
struct ReorderSequences {
  static constexpr const char* kName = "reorder_sequences";
  std::int64_t count;
  std::int32_t* reordered;
  const std::int32_t* sequences;
  const std::int64_t* order;
  std::int64_t lanes;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t) const {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      if (order[lane] >= 0) reordered[order[lane]] = sequences[lane];
    }
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"reordered", 8, 8, true, true},
                                                          {"sequences", 16, 8, true},
                                                          {"order", 24, 8, true},
                                                          {"lanes", 32, 8, false}};
};

}  // namespace graphsan::faults
