#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// clamped[i] = max(slots[i], lowest).
struct ClampSlots {
  static constexpr const char* kName = "clamp_slots";
  std::int64_t count;
  std::int64_t* clamped;
  const std::int64_t* slots;
  std::int64_t lowest;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    clamped[i] = slots[i] < lowest ? lowest : slots[i];
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"clamped", 8, 8, true, true},
                                                          {"slots", 16, 8, true},
                                                          {"lowest", 24, 8, false}};
};

/// Writes packed rows by page and offset: page = slot / page_size and offset = slot % page_size as
/// C++ divides, so slot -1 is offset -1 of page 0. `count` = lanes × width.
struct WriteByPage {
  static constexpr const char* kName = "write_by_page";
  std::int64_t count;
  std::uint16_t* cache;  ///< pages × page_size rows of `width`
  const std::uint16_t* rows;
  const std::int64_t* slots;
  std::int64_t width;
  std::int64_t page_size;
  std::int64_t skips_negative;  ///< 0 or 1
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t slot = slots[i / width];
    if (skips_negative != 0 && slot < 0) return;
    const std::int64_t page = slot / page_size;
    const std::int64_t offset = slot % page_size;
    cache[(page * page_size + offset) * width + i % width] = rows[i];
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},          {"cache", 8, 8, true, true}, {"rows", 16, 8, true},
      {"slots", 24, 8, true},          {"width", 32, 8, false},     {"page_size", 40, 8, false},
      {"skips_negative", 48, 8, false}};
};

}  // namespace graphsan::faults
