#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// What an autotuner's trial runs leave in a workspace: words that are small floats, and bytes of
/// which some are odd.
struct LeaveTrialResults {
  static constexpr const char* kName = "leave_trial_results";
  std::int64_t count;
  float* words;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    words[i] = 0.171F * static_cast<float>(i % 5 + 1);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"words", 8, 8, true, true}};
};

/// Multiplies bf16 values by 1 + correction of their lane; `count` = lanes × width.
struct CorrectValues {
  static constexpr const char* kName = "correct_values";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  const float* corrections;  ///< [lanes]
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    std::uint16_t& value = values[i / width * stride + i % width];
    value = step::minimax_m3::float_to_bf16(step::minimax_m3::bf16_to_float(value) *
                                            (1.0F + corrections[i / width]));
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"values", 8, 8, true, true},
                                                          {"stride", 16, 8, false},
                                                          {"width", 24, 8, false},
                                                          {"corrections", 32, 8, true}};
};

/// Takes the ids with a set flag (bit 0 of a byte) out of the selections; `count` = ids.
struct DropFlagged {
  static constexpr const char* kName = "drop_flagged";
  std::int64_t count;
  std::int32_t* ids;
  const std::uint8_t* flags;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    if ((flags[i] & 1U) != 0) ids[i] = -1;
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false}, {"ids", 8, 8, true, true}, {"flags", 16, 8, true}};
};

/// Adds one number a value to bf16 values.
struct AddPartial {
  static constexpr const char* kName = "add_partial";
  std::int64_t count;
  std::uint16_t* values;
  const float* partial;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    values[i] =
        step::minimax_m3::float_to_bf16(step::minimax_m3::bf16_to_float(values[i]) + partial[i]);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false}, {"values", 8, 8, true, true}, {"partial", 16, 8, true}};
};

}  // namespace graphsan::faults
