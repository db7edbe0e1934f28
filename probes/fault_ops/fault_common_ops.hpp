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

}  // namespace graphsan::faults
