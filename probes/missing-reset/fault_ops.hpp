#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// The last step of a split reduction: each split of a lane counts its arrival, and the one that
/// arrives last publishes the lane's result. `count` = lanes × splits.
struct PublishByLastSplit {
  static constexpr const char* kName = "publish_by_last_split";
  std::int64_t count;
  std::int32_t* arrivals;  ///< [lanes]; expected to be 0 before
  std::int64_t splits;
  const std::uint16_t* reduced;  ///< [lanes, width]
  std::uint16_t* out;            ///< [lanes, width]
  std::int64_t width;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t lane = i / splits;
#if defined(__CUDA_ARCH__)
    const std::int32_t before = atomicAdd(arrivals + lane, 1);
#else
    const std::int32_t before = arrivals[lane]++;
#endif
    if (before != splits - 1) return;
    for (std::int64_t j = 0; j < width; ++j) out[lane * width + j] = reduced[lane * width + j];
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},   {"arrivals", 8, 8, true, true}, {"splits", 16, 8, false},
      {"reduced", 24, 8, true}, {"out", 32, 8, true, true},     {"width", 40, 8, false}};
};

/// One split of a sum: sums[i] += weight × values[i], over `count` = lanes × width.
struct AddSplit {
  static constexpr const char* kName = "add_split";
  std::int64_t count;
  float* sums;                  ///< [lanes, width]; expected to be 0 before the first split
  const std::uint16_t* values;  ///< bf16
  std::int64_t stride;          ///< elements between lanes of `values`
  std::int64_t width;
  double weight;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::uint16_t value = values[i / width * stride + i % width];
    sums[i] += static_cast<float>(weight) * step::minimax_m3::bf16_to_float(value);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},   {"sums", 8, 8, true, true}, {"values", 16, 8, true},
      {"stride", 24, 8, false}, {"width", 32, 8, false},    {"weight", 40, 8, false}};
};

/// Rounds the sum of all splits to bf16.
struct StoreSum {
  static constexpr const char* kName = "store_sum";
  std::int64_t count;
  const float* sums;
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    values[i / width * stride + i % width] = step::minimax_m3::float_to_bf16(sums[i]);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"sums", 8, 8, true},
                                                          {"values", 16, 8, true, true},
                                                          {"stride", 24, 8, false},
                                                          {"width", 32, 8, false}};
};

/// Packs the slots of `lanes` lanes behind a cursor; what no longer fits is dropped. One element.
struct PackSlots {
  static constexpr const char* kName = "pack_slots";
  std::int64_t count;
  std::int64_t lanes;
  const std::int64_t* slots;
  std::int64_t* packed;  ///< [capacity]
  std::int64_t capacity;
  std::int64_t* cursor;  ///< next free entry; expected to be 0 before
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t) const {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t at = (*cursor)++;
      if (at < capacity) packed[at] = slots[lane];
    }
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},        {"lanes", 8, 8, false},     {"slots", 16, 8, true},
      {"packed", 24, 8, true, true}, {"capacity", 32, 8, false}, {"cursor", 40, 8, true, true}};
};

}  // namespace graphsan::faults
