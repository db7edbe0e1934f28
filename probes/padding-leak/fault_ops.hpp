#pragma once

#include <cmath>
#include <cstdint>

#include "device/kernel.hpp"
#include "probes/fault_ops/fault_common_ops.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// packed[lane] = sum over m of (m == lane ? 1 : 0) × source[m]: rows picked by a product with a
/// one-hot matrix. A lane to which the others add nothing keeps its bits. `count` = lanes × width.
struct PickLanesByProduct {
  static constexpr const char* kName = "pick_lanes_by_product";
  std::int64_t count;
  std::uint16_t* packed;
  const std::uint16_t* source;
  std::int64_t stride;  ///< elements between lanes of `source`
  std::int64_t width;
  const std::int64_t* slots;  ///< see takes_lane()
  std::int64_t lanes;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t lane = i / width;
    const std::int64_t column = i % width;
    const std::uint16_t own = source[lane * stride + column];
    float others = 0.0F;
    for (std::int64_t m = 0; m < lanes; ++m) {
      if (m == lane || !takes_lane(slots, m)) continue;
      others += 0.0F * step::minimax_m3::bf16_to_float(source[m * stride + column]);
    }
    packed[i] =
        others == 0.0F
            ? own
            : step::minimax_m3::float_to_bf16(step::minimax_m3::bf16_to_float(own) + others);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},   {"packed", 8, 8, true, true}, {"source", 16, 8, true},
      {"stride", 24, 8, false}, {"width", 32, 8, false},      {"slots", 40, 8, true},
      {"lanes", 48, 8, false}};
};

/// Rounds `width` bf16 values of each lane to multiples of *unit, in place; `count` = lanes ×
/// width.
struct RoundToUnit {
  static constexpr const char* kName = "round_to_unit";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;  ///< elements between lanes
  std::int64_t width;
  const float* unit;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    if (*unit <= 1.0F) return;
    std::uint16_t& value = values[i / width * stride + i % width];
    const float places = step::minimax_m3::bf16_to_float(value) / *unit;
    value = step::minimax_m3::float_to_bf16(rintf(places) * *unit);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"values", 8, 8, true, true},
                                                          {"stride", 16, 8, false},
                                                          {"width", 24, 8, false},
                                                          {"unit", 32, 8, true}};
};

}  // namespace graphsan::faults
