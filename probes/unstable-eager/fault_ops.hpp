#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// Counts the runs of a process, which stand for its scheduling. One element.
struct CountRun {
  static constexpr const char* kName = "count_run";
  std::int64_t count;
  std::uint64_t* runs;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t) const { ++*runs; }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"runs", 8, 8, true, true}};
};

/// One of two outcomes of a race, drawn for (run, place).
GRAPHSAN_HOST_DEVICE constexpr bool wins_race(std::uint64_t run, std::int64_t place) {
  std::uint64_t bits = run * 0xD1B54A32D192ED03ULL ^ static_cast<std::uint64_t>(place);
  bits = (bits ^ (bits >> 31)) * 0x94D049BB133111EBULL;
  bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9ULL;
  return ((bits >> 37) & 1U) != 0;
}

/// Each value is v + 2v - 2v, added in bf16 in the order in which the three arrive: exact, or off
/// by rounding. Without `runs` the order is fixed and exact. `count` = lanes × width.
struct AddInArrivalOrder {
  static constexpr const char* kName = "add_in_arrival_order";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  const std::uint64_t* runs;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    using step::minimax_m3::bf16_to_float;
    using step::minimax_m3::float_to_bf16;
    if (runs == nullptr || wins_race(*runs, i)) return;
    std::uint16_t& value = values[i / width * stride + i % width];
    const float term = bf16_to_float(value);
    const float sum = bf16_to_float(float_to_bf16(term + 2.0F * term));
    value = float_to_bf16(sum - 2.0F * term);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"values", 8, 8, true, true},
                                                          {"stride", 16, 8, false},
                                                          {"width", 24, 8, false},
                                                          {"runs", 32, 8, true}};
};

/// Each lane's second half of a row gets a quarter added by a second writer, which is lost when it
/// loses the race. Without `runs` it never does. `count` = lanes.
struct AddUnlocked {
  static constexpr const char* kName = "add_unlocked";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  const std::uint64_t* runs;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t lane) const {
    using step::minimax_m3::bf16_to_float;
    using step::minimax_m3::float_to_bf16;
    const bool lost = runs != nullptr && !wins_race(*runs, lane);
    for (std::int64_t j = width / 2; j < width; ++j) {
      std::uint16_t& value = values[lane * stride + j];
      const float most = bf16_to_float(value) * 0.75F;
      value = float_to_bf16(lost ? most : most + bf16_to_float(value) * 0.25F);
    }
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"values", 8, 8, true, true},
                                                          {"stride", 16, 8, false},
                                                          {"width", 24, 8, false},
                                                          {"runs", 32, 8, true}};
};

}  // namespace graphsan::faults
