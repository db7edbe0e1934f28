#pragma once

#include <cstdint>

#include "kvcache/portable.hpp"

/// XXH3-64 with seed 0 and the default secret, written from the algorithm's specification
/// (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) for one thread. Little-endian machines only.
namespace graphsan::kvcache::xxh3 {

inline constexpr std::uint64_t kPrime32_1 = 0x9E3779B1U;
inline constexpr std::uint64_t kPrime32_2 = 0x85EBCA77U;
inline constexpr std::uint64_t kPrime32_3 = 0xC2B2AE3DU;
inline constexpr std::uint64_t kPrime64_1 = 0x9E3779B185EBCA87U;
inline constexpr std::uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4FU;
inline constexpr std::uint64_t kPrime64_3 = 0x165667B19E3779F9U;
inline constexpr std::uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63U;
inline constexpr std::uint64_t kPrime64_5 = 0x27D4EB2F165667C5U;
inline constexpr std::uint64_t kPrimeMx1 = 0x165667919E3779F9U;
inline constexpr std::uint64_t kPrimeMx2 = 0x9FB21C651E98DF25U;

inline constexpr std::uint32_t kStripeBytes = 64;
inline constexpr std::uint32_t kBlockBytes = 1024;  ///< stripes between two scrambles
inline constexpr std::uint32_t kLastStripeSecret = 192 - 64 - 7;
inline constexpr std::uint32_t kScrambleSecret = 192 - 64;
inline constexpr std::uint32_t kMergeSecret = 11;

/// Eight bytes of the default secret, from any byte offset up to 184.
GRAPHSAN_HOST_DEVICE inline std::uint64_t secret64(std::uint32_t offset) {
  static constexpr std::uint64_t kWords[25] = {0xBE4BA423396CFEB8,
                                               0x1CAD21F72C81017C,
                                               0xDB979083E96DD4DE,
                                               0x1F67B3B7A4A44072,
                                               0x78E5C0CC4EE679CB,
                                               0x2172FFCC7DD05A82,
                                               0x8E2443F7744608B8,
                                               0x4C263A81E69035E0,
                                               0xCB00C391BB52283C,
                                               0xA32E531B8B65D088,
                                               0x4EF90DA297486471,
                                               0xD8ACDEA946EF1938,
                                               0x3F349CE33F76FAA8,
                                               0x1D4F0BC7C7BBDCF9,
                                               0x3159B4CD4BE0518A,
                                               0x647378D9C97E9FC8,
                                               0xC3EBD33483ACC5EA,
                                               0xEB6313FAFFA081C5,
                                               0x49DAF0B751DD0D17,
                                               0x9E68D429265516D3,
                                               0xFCA1477D58BE162B,
                                               0xCE31D07AD1B8F88F,
                                               0x280416958F3ACB45,
                                               0x7E404BBBCAFBD7AF,
                                               0};
  const std::uint32_t shift = offset % 8 * 8;
  const std::uint64_t low = kWords[offset / 8] >> shift;
  return shift == 0 ? low : low | (kWords[offset / 8 + 1] << (64 - shift));
}

/// Starting value of accumulator `index`, 0 to 7.
GRAPHSAN_HOST_DEVICE inline std::uint64_t initial_accumulator(std::uint32_t index) {
  static constexpr std::uint64_t kInitial[8] = {kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3,
                                                kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};
  return kInitial[index];
}

/// 64 × 64 → 128 bits, low half XOR high half.
GRAPHSAN_HOST_DEVICE inline std::uint64_t fold64(std::uint64_t a, std::uint64_t b) {
#ifdef __CUDA_ARCH__
  return (a * b) ^ __umul64hi(a, b);
#else
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#endif
}

GRAPHSAN_HOST_DEVICE inline std::uint64_t rotate_left(std::uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

GRAPHSAN_HOST_DEVICE inline std::uint32_t swap_bytes(std::uint32_t value) {
  return (value << 24) | ((value & 0xFF00U) << 8) | ((value >> 8) & 0xFF00U) | (value >> 24);
}

GRAPHSAN_HOST_DEVICE inline std::uint64_t avalanche(std::uint64_t hash) {
  hash ^= hash >> 37;
  hash *= kPrimeMx1;
  return hash ^ (hash >> 32);
}

/// The finalizer of XXH64, used for 0 to 3 bytes.
GRAPHSAN_HOST_DEVICE inline std::uint64_t avalanche_xxh64(std::uint64_t hash) {
  hash ^= hash >> 33;
  hash *= kPrime64_2;
  hash ^= hash >> 29;
  hash *= kPrime64_3;
  return hash ^ (hash >> 32);
}

/// Sixteen bytes against the secret: the unit of the 17 to 240 byte paths.
GRAPHSAN_HOST_DEVICE inline std::uint64_t mix16(std::uint64_t low, std::uint64_t high,
                                                std::uint32_t secret) {
  return fold64(low ^ secret64(secret), high ^ secret64(secret + 8));
}

/// Product of the two halves: what a keyed word adds to its own accumulator.
GRAPHSAN_HOST_DEVICE inline std::uint64_t multiply_halves(std::uint64_t keyed) {
  return std::uint64_t{static_cast<std::uint32_t>(keyed)} * static_cast<std::uint32_t>(keyed >> 32);
}

/// One accumulator between two blocks.
GRAPHSAN_HOST_DEVICE inline std::uint64_t scramble(std::uint64_t accumulator, std::uint32_t index) {
  accumulator ^= accumulator >> 47;
  accumulator ^= secret64(kScrambleSecret + 8 * index);
  return accumulator * kPrime32_1;
}

template <typename Reader>
GRAPHSAN_HOST_DEVICE std::uint64_t hash_up_to_16(const Reader& read, std::uint32_t length) {
  if (length > 8) {
    const std::uint64_t low = read.u64(0) ^ (secret64(24) ^ secret64(32));
    const std::uint64_t high = read.u64(length - 8) ^ (secret64(40) ^ secret64(48));
    const std::uint64_t swapped =
        (std::uint64_t{swap_bytes(static_cast<std::uint32_t>(low))} << 32) |
        swap_bytes(static_cast<std::uint32_t>(low >> 32));
    return avalanche(length + swapped + high + fold64(low, high));
  }
  if (length >= 4) {
    const std::uint64_t word = read.u32(length - 4) | (std::uint64_t{read.u32(0)} << 32);
    std::uint64_t hash = word ^ (secret64(8) ^ secret64(16));
    hash ^= rotate_left(hash, 49) ^ rotate_left(hash, 24);
    hash *= kPrimeMx2;
    hash ^= (hash >> 35) + length;
    hash *= kPrimeMx2;
    return hash ^ (hash >> 28);
  }
  if (length == 0) return avalanche_xxh64(secret64(56) ^ secret64(64));
  const std::uint32_t word = (std::uint32_t{read.u8(0)} << 16) |
                             (std::uint32_t{read.u8(length / 2)} << 24) | read.u8(length - 1) |
                             (length << 8);
  const std::uint64_t flip = (secret64(0) & 0xFFFFFFFFU) ^ (secret64(0) >> 32);
  return avalanche_xxh64(word ^ flip);
}

template <typename Reader>
GRAPHSAN_HOST_DEVICE std::uint64_t hash_up_to_128(const Reader& read, std::uint32_t length) {
  std::uint64_t sum = length * kPrime64_1;
  const std::uint32_t pairs = (length - 1) / 32 + 1;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const std::uint32_t end = length - 16 * (i + 1);
    sum += mix16(read.u64(16 * i), read.u64(16 * i + 8), 32 * i);
    sum += mix16(read.u64(end), read.u64(end + 8), 32 * i + 16);
  }
  return avalanche(sum);
}

template <typename Reader>
GRAPHSAN_HOST_DEVICE std::uint64_t hash_up_to_240(const Reader& read, std::uint32_t length) {
  std::uint64_t sum = length * kPrime64_1;
  for (std::uint32_t i = 0; i < 8; ++i) {
    sum += mix16(read.u64(16 * i), read.u64(16 * i + 8), 16 * i);
  }
  sum = avalanche(sum);
  for (std::uint32_t i = 8; i < length / 16; ++i) {
    sum += mix16(read.u64(16 * i), read.u64(16 * i + 8), 16 * (i - 8) + 3);
  }
  return avalanche(sum + mix16(read.u64(length - 16), read.u64(length - 8), 136 - 17));
}

template <typename Reader>
GRAPHSAN_HOST_DEVICE void accumulate_stripe(const Reader& read, std::uint32_t offset,
                                            std::uint32_t secret, std::uint64_t (&sums)[8]) {
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint64_t word = read.u64(offset + 8 * i);
    sums[i ^ 1] += word;
    sums[i] += multiply_halves(word ^ secret64(secret + 8 * i));
  }
}

template <typename Reader>
GRAPHSAN_HOST_DEVICE std::uint64_t hash_long(const Reader& read, std::uint32_t length) {
  std::uint64_t sums[8];
  for (std::uint32_t i = 0; i < 8; ++i) sums[i] = initial_accumulator(i);
  const std::uint32_t stripes = (length - 1) / kStripeBytes;
  for (std::uint32_t stripe = 0; stripe < stripes; ++stripe) {
    accumulate_stripe(read, stripe * kStripeBytes, stripe % 16 * 8, sums);
    if (stripe % 16 == 15) {
      for (std::uint32_t i = 0; i < 8; ++i) sums[i] = scramble(sums[i], i);
    }
  }
  accumulate_stripe(read, length - kStripeBytes, kLastStripeSecret, sums);
  std::uint64_t hash = length * kPrime64_1;
  for (std::uint32_t i = 0; i < 4; ++i) {
    hash += fold64(sums[2 * i] ^ secret64(kMergeSecret + 16 * i),
                   sums[2 * i + 1] ^ secret64(kMergeSecret + 16 * i + 8));
  }
  return avalanche(hash);
}

/// Hash of `length` bytes. `Reader` has `u8`, `u32` and `u64`, each taking a byte offset and giving
/// the little-endian number there; it is never asked for bytes outside the input.
template <typename Reader>
GRAPHSAN_HOST_DEVICE std::uint64_t hash(const Reader& read, std::uint32_t length) {
  if (length <= 16) return hash_up_to_16(read, length);
  if (length <= 128) return hash_up_to_128(read, length);
  if (length <= 240) return hash_up_to_240(read, length);
  return hash_long(read, length);
}

}  // namespace graphsan::kvcache::xxh3
