#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// A value that is the sum of `splits` partial results kept in bf16, added up in fp32: itself for
/// one split, else off by rounding. `count` = lanes × width.
struct SumOfSplits {
  static constexpr const char* kName = "sum_of_splits";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  std::int64_t splits;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    std::uint16_t& value = values[i / width * stride + i % width];
    const float whole = step::minimax_m3::bf16_to_float(value);
    const std::int64_t parts = splits * (splits + 1) / 2;
    float sum = 0.0F;
    for (std::int64_t split = 1; split <= splits; ++split) {
      const float part = whole * static_cast<float>(split) / static_cast<float>(parts);
      sum += step::minimax_m3::bf16_to_float(step::minimax_m3::float_to_bf16(part));
    }
    value = step::minimax_m3::float_to_bf16(sum);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"values", 8, 8, true, true},
                                                          {"stride", 16, 8, false},
                                                          {"width", 24, 8, false},
                                                          {"splits", 32, 8, false}};
};

}  // namespace graphsan::faults
