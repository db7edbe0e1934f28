#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// slots[i] = start + i: slots of a contiguous run whose first one the host knows.
struct SlotsFromStart {
  static constexpr const char* kName = "slots_from_start";
  std::int64_t count;
  std::int64_t* slots;
  std::int64_t start;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const { slots[i] = start + i; }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false}, {"slots", 8, 8, true, true}, {"start", 16, 8, false}};
};

/// Keeps a stream busy for about `microseconds` on CUDA; nothing on the host, where the order of
/// unordered branches is drawn.
struct BusyWait {
  static constexpr const char* kName = "busy_wait";
  std::int64_t count;
  std::int64_t microseconds;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t) const {
#if defined(__CUDA_ARCH__)
    for (std::int64_t i = 0; i < microseconds; ++i) __nanosleep(1000);
#endif
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"microseconds", 8, 8, false}};
};

/// destination[i] = source[i].
struct CopyFloat {
  static constexpr const char* kName = "copy_float";
  std::int64_t count;
  float* destination;
  const float* source;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const { destination[i] = source[i]; }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false}, {"destination", 8, 8, true, true}, {"source", 16, 8, true}};
};

/// Multiplies `width` bf16 values of each row by *scale, in place; `count` = rows × width.
struct ScaleValues {
  static constexpr const char* kName = "scale_values";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;  ///< elements between rows
  std::int64_t width;
  const float* scale;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    std::uint16_t& value = values[i / width * stride + i % width];
    value = step::minimax_m3::float_to_bf16(step::minimax_m3::bf16_to_float(value) * *scale);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"values", 8, 8, true, true},
                                                          {"stride", 16, 8, false},
                                                          {"width", 24, 8, false},
                                                          {"scale", 32, 8, true}};
};

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

/// Largest finite value of the narrower format, from which a dynamic scale is worked out.
inline constexpr double kLargestE4M3 = 448.0;

/// Whether an op over the batch takes lane `lane` in: all where no slots are given, else those with
/// a slot.
GRAPHSAN_HOST_DEVICE inline bool takes_lane(const std::int64_t* slots, std::int64_t lane) {
  return slots == nullptr || slots[lane] >= 0;
}

/// Largest magnitude of the lanes' `width` bf16 values, NaN passed over.
GRAPHSAN_HOST_DEVICE inline float amax_of_lanes(const std::uint16_t* values, std::int64_t stride,
                                                std::int64_t width, const std::int64_t* slots,
                                                std::int64_t lanes) {
  float amax = 0.0F;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    if (!takes_lane(slots, lane)) continue;
    for (std::int64_t i = 0; i < width; ++i) {
      const float value = step::minimax_m3::bf16_to_float(values[lane * stride + i]);
      const float magnitude = value < 0.0F ? -value : value;
      if (magnitude > amax) amax = magnitude;
    }
  }
  return amax;
}

/// *scale = the smallest power of two, at least 1, by which all lanes' values fit: a dynamic scale
/// per tensor. One element.
struct ScaleOverLanes {
  static constexpr const char* kName = "scale_over_lanes";
  std::int64_t count;
  float* scale;
  const std::uint16_t* values;
  std::int64_t stride;  ///< elements between lanes
  std::int64_t width;
  const std::int64_t* slots;  ///< see takes_lane()
  std::int64_t lanes;
  double largest;  ///< finite value of the format
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t) const {
    constexpr double kLimit = 1e38;
    const double amax = amax_of_lanes(values, stride, width, slots, lanes);
    double power = 1.0;
    while (amax > largest * power && power < kLimit) power *= 2.0;
    *scale = static_cast<float>(power);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},   {"scale", 8, 8, true, true}, {"values", 16, 8, true},
      {"stride", 24, 8, false}, {"width", 32, 8, false},     {"slots", 40, 8, true},
      {"lanes", 48, 8, false},  {"largest", 56, 8, false}};
};

}  // namespace graphsan::faults
