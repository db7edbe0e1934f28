#pragma once

#include <cstddef>
#include <cstdint>

#include "kvcache/portable.hpp"

namespace graphsan::kvcache {

/// What a seed makes of a row number. `step` is odd.
struct PatternKey {
  std::uint64_t seed;
  std::uint64_t step;
  std::uint64_t start;
};

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words.
GRAPHSAN_HOST_DEVICE inline std::uint64_t mix64(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

GRAPHSAN_HOST_DEVICE inline PatternKey pattern_key(std::uint64_t seed) {
  const std::uint64_t mixed = mix64(seed + 0x9E3779B97F4A7C15U);
  return {mixed, mix64(mixed) | 1, mix64(mixed + 1)};
}

/// Eight bytes of the pattern of a row, `word` counting them. Even bytes hold six bits (0x00 to
/// 0x3F), odd bytes one (0x3C or 0x3D): 28 bits a word.
///
/// Word 0 takes them from `row * step + start`, whose low n bits are a bijection of the row's low n
/// bits: of rows of one seed whose numbers differ below 2^28 no two agree in eight bytes, and a
/// shorter row is as unique as its length allows. Later words are hashed.
GRAPHSAN_HOST_DEVICE inline std::uint64_t pattern_word(const PatternKey& key, std::uint64_t row,
                                                       std::uint64_t word) {
  std::uint64_t bits = row * key.step + key.start;
  if (word != 0) bits = mix64(mix64(row ^ key.seed) + word * 0x9E3779B97F4A7C15U);
  std::uint64_t bytes = 0;
  for (int pair = 0; pair < 4; ++pair) {
    const std::uint64_t low = bits & 0x3F;
    const std::uint64_t high = 0x3C | (bits >> 6 & 1);
    bytes |= (low | high << 8) << (16 * pair);
    bits >>= 7;
  }
  return bytes;
}

GRAPHSAN_HOST_DEVICE inline std::byte pattern_byte(const PatternKey& key, std::uint64_t row,
                                                   std::uint64_t byte) {
  return static_cast<std::byte>(pattern_word(key, row, byte / 8) >> (byte % 8 * 8) & 0xFF);
}

/// Bytes `first` to `first + count` of a row's pattern.
inline void fill_pattern_bytes(const PatternKey& key, std::uint64_t row, std::uint64_t first,
                               std::byte* to, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t byte = first + i;
    if (i == 0 || byte % 8 == 0) word = pattern_word(key, row, byte / 8);
    to[i] = static_cast<std::byte>(word >> (byte % 8 * 8) & 0xFF);
  }
}

}  // namespace graphsan::kvcache
