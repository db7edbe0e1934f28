#pragma once

#include <bit>
#include <cstdint>

#include "step/minimax_m3/host_device.hpp"

// Conversions between float and the two OCP 8-bit formats. A stored value is encode(x / scale) with
// a true division; a reader multiplies by the scale.
namespace graphsan::step::minimax_m3 {

/// How fp8 bytes are made: by the conversion instruction (compute capability 8.9 and up) or in
/// integer arithmetic. Both give the same bytes. The host functions always use the software form,
/// and so does a device without the instruction.
enum class Conversion : std::int32_t { kNative, kSoftware };

/// 4 exponent bits, 3 mantissa bits, no infinity; 0x7F and 0xFF are NaN.
struct E4M3 {
  static constexpr std::int32_t kMantissaBits = 3;
  static constexpr std::int32_t kBias = 7;
  static constexpr std::uint32_t kLargestFinite = 0x43E00000U;  ///< 448 as a float's bits
  static constexpr std::uint32_t kFirstSpecial = 0x7FU;         ///< magnitude code of NaN
};

/// 5 exponent bits, 2 mantissa bits: the upper half of an IEEE binary16.
struct E5M2 {
  static constexpr std::int32_t kMantissaBits = 2;
  static constexpr std::int32_t kBias = 15;
  static constexpr std::uint32_t kLargestFinite = 0x47600000U;  ///< 57344 as a float's bits
  static constexpr std::uint32_t kFirstSpecial = 0x7CU;         ///< magnitude code of infinity
};

inline constexpr std::uint8_t kFp8Nan = 0x7F;

/// `condition ? yes : no` in arithmetic: compilers vectorise it where they would keep a branch.
GRAPHSAN_HOST_DEVICE constexpr std::uint32_t select_bits(bool condition, std::uint32_t yes,
                                                         std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Nearest code, ties to even; beyond the largest finite value, infinities included, the largest
/// finite code of that sign; any NaN 0x7F; -0 keeps its sign.
///
/// Integer arithmetic only and branch-free, so that loops over it vectorise.
template <typename Format>
GRAPHSAN_HOST_DEVICE constexpr std::uint8_t encode_fp8(float value) {
  constexpr std::int32_t kDroppedBits = 23 - Format::kMantissaBits;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t finite =
      magnitude < Format::kLargestFinite ? magnitude : Format::kLargestFinite;
  const std::int32_t exponent =
      static_cast<std::int32_t>(finite >> 23) - (127 - Format::kBias);  // of the target format
  const std::int32_t clamped = exponent > 1 ? exponent : 1;
  // Subnormal results drop one more bit for each step below the smallest exponent. At 25 even the
  // implicit bit of a zero or of a float subnormal, which has none, rounds to nothing.
  const std::int32_t wanted = kDroppedBits + clamped - exponent;
  const std::int32_t shift = wanted < 25 ? wanted : 25;
  const std::uint32_t significand = (finite & 0x007FFFFFU) | 0x00800000U;
  const std::uint32_t half_less_one = (1U << (shift - 1)) - 1U;
  const std::uint32_t rounded =
      (significand + half_less_one + ((significand >> shift) & 1U)) >> shift;
  const std::uint32_t code =
      (static_cast<std::uint32_t>(clamped - 1) << Format::kMantissaBits) + rounded;
  const std::uint32_t with_sign = code | ((bits >> 24) & 0x80U);
  return static_cast<std::uint8_t>(magnitude > 0x7F800000U ? kFp8Nan : with_sign);
}

/// Exact value of a code. Branch-free, and free of float subnormals.
template <typename Format>
GRAPHSAN_HOST_DEVICE constexpr float decode_fp8(std::uint8_t code) {
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - Format::kBias) << 23;
  constexpr std::uint32_t kSmallestNormal = kRebias + (1U << 23);
  const std::uint32_t magnitude = code & 0x7FU;
  const std::uint32_t shifted = magnitude << (23 - Format::kMantissaBits);
  const std::uint32_t normal = shifted + kRebias;
  const float above_smallest = std::bit_cast<float>(shifted + kSmallestNormal);
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(above_smallest - std::bit_cast<float>(kSmallestNormal));
  const std::uint32_t finite =
      select_bits(magnitude < (1U << Format::kMantissaBits), subnormal, normal);
  const std::uint32_t special = 0x7F800000U | ((magnitude - Format::kFirstSpecial) << 21) |
                                (Format::kFirstSpecial == kFp8Nan ? 0x00400000U : 0U);
  const std::uint32_t unsigned_bits =
      select_bits(magnitude >= Format::kFirstSpecial, special, finite);
  return std::bit_cast<float>(unsigned_bits | (static_cast<std::uint32_t>(code & 0x80U) << 24));
}

}  // namespace graphsan::step::minimax_m3
