#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// Rounds bf16 values to fewer mantissa bits, up or down by chance: a value's draw is a pure
/// function of (seed, offset + its index). `count` = rows × width.
struct StochasticRound {
  static constexpr const char* kName = "stochastic_round";
  std::int64_t count;
  std::uint16_t* values;
  std::int64_t stride;  ///< elements between rows
  std::int64_t width;
  std::int64_t dropped_bits;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  const std::uint64_t* state = nullptr;  ///< where not null: the seed, instead of `seed`
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::uint64_t key = state == nullptr ? seed : *state;
    std::uint64_t x = key * 0x9E3779B97F4A7C15ULL + offset + static_cast<std::uint64_t>(i);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    x ^= x >> 31;
    const std::uint32_t mask = (1U << dropped_bits) - 1U;
    std::uint16_t& value = values[i / width * stride + i % width];
    value = static_cast<std::uint16_t>((value + (static_cast<std::uint32_t>(x) & mask)) & ~mask);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {
      {"count", 0, 8, false},   {"values", 8, 8, true, true},   {"stride", 16, 8, false},
      {"width", 24, 8, false},  {"dropped_bits", 32, 8, false}, {"seed", 40, 8, false},
      {"offset", 48, 8, false}, {"state", 56, 8, true}};
};

}  // namespace graphsan::faults
