#pragma once

#include <bit>
#include <cstdint>

#include "step/minimax_m3/host_device.hpp"

namespace graphsan::step::minimax_m3 {

/// Exact value of a bfloat16 bit pattern.
GRAPHSAN_HOST_DEVICE constexpr float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Nearest bfloat16, ties to even, overflow to infinity. Any NaN becomes 0x7FFF, the pattern that
/// the CUDA conversion instruction gives. Branch-free, so that loops over it vectorise.
GRAPHSAN_HOST_DEVICE constexpr std::uint16_t float_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return static_cast<std::uint16_t>(is_nan ? 0x7FFFU : rounded);
}

}  // namespace graphsan::step::minimax_m3
