#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// top_k[head][lane] = the first k visible blocks, -1 beyond: right where no more are visible.
struct FirstBlocks {
  static constexpr const char* kName = "first_blocks";
  std::int64_t count;  ///< heads × lanes × k
  std::int32_t* top_k;
  const std::int32_t* seq_lens;
  std::int64_t lanes;
  std::int64_t lane_stride;  ///< lanes between two heads' rows
  std::int64_t k;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t lane = i / k % lanes;
    const std::int64_t visible = (seq_lens[lane] + 127) / 128;
    const std::int64_t block = i % k;
    top_k[(i / k / lanes * lane_stride + lane) * k + block] =
        block < visible ? static_cast<std::int32_t>(block) : -1;
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},  {"top_k", 8, 8, true, true},   {"seq_lens", 16, 8, true},
      {"lanes", 24, 8, false}, {"lane_stride", 32, 8, false}, {"k", 40, 8, false}};
};

/// run[i] = slots[0] + i, and negative where slots[i] is: right where the slots are one run.
struct RunOfSlots {
  static constexpr const char* kName = "run_of_slots";
  std::int64_t count;
  std::int64_t* run;
  const std::int64_t* slots;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    run[i] = slots[i] < 0 ? slots[i] : slots[0] + i;
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false}, {"run", 8, 8, true, true}, {"slots", 16, 8, true}};
};

}  // namespace graphsan::faults
