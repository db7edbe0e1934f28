#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// Turns a selection in which the lower block wins a tie into one in which the higher does, where
/// blocks of equal score are neighbours. Ids stay in ascending order. `count` = heads × lanes.
struct PreferLaterOfTies {
  static constexpr const char* kName = "prefer_later_of_ties";
  std::int64_t count;
  const float* scores;  ///< [heads, lanes, blocks]
  std::int32_t* top_k;  ///< [heads, lanes_stride, k]
  const std::int32_t* seq_lens;
  std::int64_t lanes;
  std::int64_t lanes_stride;
  std::int64_t blocks;
  std::int64_t k;
  std::int64_t block_size;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t lane = i % lanes;
    const std::int64_t visible = (seq_lens[lane] + block_size - 1) / block_size;
    if (visible <= k) return;
    const float* score = scores + i * blocks;
    std::int32_t* ids = top_k + (i / lanes * lanes_stride + lane) * k;
    // The last visible block is always selected and takes part in no tie.
    std::int64_t limit = visible - 1;
    for (std::int64_t place = k - 2; place >= 0; --place) {
      std::int32_t id = ids[place];
      while (id + 1 < limit && score[id + 1] == score[ids[place]]) ++id;
      ids[place] = id;
      limit = id;
    }
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},    {"scores", 8, 8, true},  {"top_k", 16, 8, true, true},
      {"seq_lens", 24, 8, true}, {"lanes", 32, 8, false}, {"lanes_stride", 40, 8, false},
      {"blocks", 48, 8, false},  {"k", 56, 8, false},     {"block_size", 64, 8, false}};
};

}  // namespace graphsan::faults
