#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "kvcache/row_pack.hpp"

namespace graphsan::kvcache {
namespace {

float bf16_value(std::byte low, std::byte high) {
  const std::uint32_t bits =
      std::to_integer<std::uint32_t>(high) << 24 | std::to_integer<std::uint32_t>(low) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST(Pattern, BytesAreSmallFiniteNumbersInEveryCacheType) {
  for (std::int64_t row = 0; row < 2000; ++row) {
    const std::vector<std::byte> bytes = pattern_bytes(row, 64, 7);
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
      // fp8 codes 0x00 to 0x3F are at most 1.875 in e4m3 and 1.75 in e5m2, and none is a NaN.
      EXPECT_LE(bytes[i], std::byte{0x3F});
      EXPECT_TRUE(bytes[i + 1] == std::byte{0x3C} || bytes[i + 1] == std::byte{0x3D});
      const float value = bf16_value(bytes[i], bytes[i + 1]);
      EXPECT_GE(value, 0.0078125F);
      EXPECT_LT(value, 0.0625F);
    }
  }
}

TEST(Pattern, ShorterPatternIsTheStartOfTheLonger) {
  const std::vector<std::byte> longer = pattern_bytes(12, 300, 3);
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
    EXPECT_EQ(pattern_bytes(12, bytes, 3),
              std::vector<std::byte>(longer.begin(), longer.begin() + bytes));
  }
}

TEST(Pattern, IsUniqueOverRowsAndSeedsFor32Bytes) {
  std::set<std::vector<std::byte>> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::int64_t row = 0; row < 20000; ++row) seen.insert(pattern_bytes(row, 32, seed));
  }
  EXPECT_EQ(seen.size(), 8U * 20000U);
}

TEST(Pattern, IsAsUniqueAsAShortRowAllows) {
  for (const std::uint64_t seed : {0ULL, 1ULL, 0xFFFFFFFFFFFFFFFFULL}) {
    std::set<std::vector<std::byte>> two;
    std::set<std::vector<std::byte>> four;
    std::set<std::vector<std::byte>> eight;
    for (std::int64_t row = 1000; row < 1000 + 128; ++row) two.insert(pattern_bytes(row, 2, seed));
    for (std::int64_t row = 1000; row < 1000 + 16384; ++row) {
      four.insert(pattern_bytes(row, 4, seed));
    }
    for (std::int64_t row = 0; row < 100000; ++row) eight.insert(pattern_bytes(row, 8, seed));
    EXPECT_EQ(two.size(), 128U);
    EXPECT_EQ(four.size(), 16384U);
    EXPECT_EQ(eight.size(), 100000U);
  }
}

}  // namespace
}  // namespace graphsan::kvcache
