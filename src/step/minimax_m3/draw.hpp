#pragma once

#include <cstdint>

#include "device/device.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/exact_math.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Bijection of 32-bit words in which each input bit flips each output bit about half the time
/// (the finaliser of MurmurHash3).
GRAPHSAN_HOST_DEVICE constexpr std::uint32_t scramble(std::uint32_t word) {
  word ^= word >> 16;
  word *= 0x85EBCA6BU;
  word ^= word >> 13;
  word *= 0xC2B2AE35U;
  return word ^ (word >> 16);
}

/// Keys of the draws whose index has the upper half `high`.
struct DrawKeys {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

GRAPHSAN_HOST_DEVICE constexpr DrawKeys draw_keys(std::uint64_t seed, std::uint32_t high) {
  const auto seed_low = static_cast<std::uint32_t>(seed);
  const auto seed_high = static_cast<std::uint32_t>(seed >> 32);
  const std::uint32_t first =
      scramble(seed_low ^ scramble(seed_high ^ scramble(high + 0x9E3779B9U)));
  return {first, scramble(first + 0x3C6EF372U)};
}

/// Element `low` of the upper half that `keys` belong to: the sum of four 16-bit uniforms, centred,
/// divided by its standard deviation sqrt((2^32 - 1) / 3), times `scale`, as bf16 bits.
GRAPHSAN_HOST_DEVICE inline std::uint16_t draw_element(DrawKeys keys, std::uint32_t low,
                                                       float scale) {
  const std::uint32_t a = scramble(low ^ keys.first);
  const std::uint32_t b = scramble(a + keys.second);
  const std::uint32_t sum = (a & 0xFFFFU) + (a >> 16) + (b & 0xFFFFU) + (b >> 16);
  const float centred = static_cast<float>(static_cast<std::int32_t>(sum) - 131070);
  constexpr float kInverseDeviation = 1.0F / 37837.2274F;
  return float_to_bf16(multiply(multiply(centred, kInverseDeviation), scale));
}

/// See DrawArgs.
[[nodiscard]] const device::Kernel& draw_normal_kernel();
/// Nothing is launched for no elements.
void launch_draw(device::Device& device, device::StreamRef stream, const DrawArgs& args);

}  // namespace graphsan::step::minimax_m3
