#include "model/numeric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace graphsan::model {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();

/// Value of a small float by its definition: sign, exponent and fraction added bit by bit.
double value_of_fields(unsigned code, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned exponent = (code >> fraction_bits) & ((1U << exponent_bits) - 1);
  double fraction = exponent == 0 ? 0.0 : 1.0;
  for (int bit = 1; bit <= fraction_bits; ++bit) {
    if ((code >> (fraction_bits - bit) & 1U) != 0) fraction += std::pow(2.0, -bit);
  }
  const double scale = std::pow(2.0, (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias);
  const bool negative = (code >> (exponent_bits + fraction_bits) & 1U) != 0;
  return (negative ? -1.0 : 1.0) * fraction * scale;
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
std::int64_t distance(DType dtype, T a, T b) {
  const std::int64_t there = code_distance(dtype, bytes_of(a), bytes_of(b));
  EXPECT_EQ(there, code_distance(dtype, bytes_of(b), bytes_of(a)));
  return there;
}

std::int64_t e4m3_distance(std::uint8_t a, std::uint8_t b) {
  return distance(DType::kFp8E4M3, a, b);
}

TEST(Decode, GivesEveryE4M3CodeItsValue) {
  for (unsigned code = 0; code < 256; ++code) {
    const float value = e4m3_to_float(static_cast<std::uint8_t>(code));
    if ((code & 0x7F) == 0x7F) {
      EXPECT_TRUE(std::isnan(value)) << code;
    } else {
      EXPECT_EQ(value, value_of_fields(code, 4, 3)) << code;
    }
  }
  EXPECT_EQ(e4m3_to_float(0x7E), 448.0F);
  EXPECT_TRUE(std::signbit(e4m3_to_float(0x80)));
}

TEST(Decode, GivesEveryE5M2CodeItsValue) {
  for (unsigned code = 0; code < 256; ++code) {
    const float value = e5m2_to_float(static_cast<std::uint8_t>(code));
    const unsigned magnitude = code & 0x7F;
    if (magnitude > 0x7C) {
      EXPECT_TRUE(std::isnan(value)) << code;
    } else if (magnitude == 0x7C) {
      EXPECT_TRUE(std::isinf(value)) << code;
      EXPECT_EQ(value<0, code> 0x7F);
    } else {
      EXPECT_EQ(value, value_of_fields(code, 5, 2)) << code;
    }
  }
  EXPECT_EQ(e5m2_to_float(0x7B), 57344.0F);
}

TEST(Decode, GivesEveryFiniteBf16PatternItsValue) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = bf16_to_float(static_cast<std::uint16_t>(bits));
    if ((bits & 0x7FFF) > 0x7F80) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else if ((bits & 0x7FFF) == 0x7F80) {
      EXPECT_TRUE(std::isinf(value)) << bits;
    } else {
      ASSERT_EQ(value, value_of_fields(bits, 8, 7)) << bits;
    }
  }
}

TEST(Decode, ReadsPackedElementsOfEachType) {
  EXPECT_EQ(decode(DType::kBf16, bytes_of<std::uint32_t>(0xC0003F80)),
            (std::vector<float>{1.0F, -2.0F}));
  EXPECT_EQ(decode(DType::kF32, bytes_of(-0.75F)), std::vector<float>{-0.75F});
  EXPECT_EQ(decode(DType::kI32, bytes_of<std::int32_t>(-7)), std::vector<float>{-7.0F});
  EXPECT_EQ(decode(DType::kI64, bytes_of<std::int64_t>(-1LL << 40)),
            std::vector<float>{-std::ldexp(1.0F, 40)});
  EXPECT_EQ(decode(DType::kU8, bytes_of<std::uint16_t>(0xFF01)),
            (std::vector<float>{1.0F, 255.0F}));
  EXPECT_EQ(decode(DType::kFp8E4M3, bytes_of<std::uint8_t>(0x38)), std::vector<float>{1.0F});
  EXPECT_EQ(decode(DType::kFp8E5M2, bytes_of<std::uint8_t>(0x3C)), std::vector<float>{1.0F});
  EXPECT_TRUE(decode(DType::kBf16, {}).empty());
}

TEST(Decode, RefusesAPartOfAnElement) {
  EXPECT_THROW(static_cast<void>(decode(DType::kF32, bytes_of<std::uint16_t>(1))),
               std::invalid_argument);
}

TEST(CodeDistance, CountsRepresentableValuesBetweenAnyTwoE4M3Codes) {
  std::vector<float> values;
  for (unsigned code = 0; code < 256; ++code) {
    const float value = e4m3_to_float(static_cast<std::uint8_t>(code));
    if (!std::isnan(value) && code != 0x80) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  const auto rank = [&](unsigned code) {
    const float value = e4m3_to_float(static_cast<std::uint8_t>(code));
    return std::lower_bound(values.begin(), values.end(), value) - values.begin();
  };
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      if ((a & 0x7F) == 0x7F || (b & 0x7F) == 0x7F) continue;
      ASSERT_EQ(e4m3_distance(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)),
                std::abs(rank(a) - rank(b)))
          << a << " " << b;
    }
  }
}

TEST(CodeDistance, HasNoStepBetweenTheZeros) {
  EXPECT_EQ(e4m3_distance(0x00, 0x80), 0);
  EXPECT_EQ(e4m3_distance(0x01, 0x81), 2);
  EXPECT_EQ(distance<std::uint16_t>(DType::kBf16, 0x0000, 0x8000), 0);
  EXPECT_EQ(distance(DType::kF32, 0.0F, -0.0F), 0);
}

TEST(CodeDistance, CountsUlpOfWiderTypes) {
  EXPECT_EQ(distance<std::uint16_t>(DType::kBf16, 0x3F80, 0x3F82), 2);
  EXPECT_EQ(distance(DType::kF32, 1.0F, std::nextafter(1.0F, 2.0F)), 1);
  EXPECT_EQ(distance<std::uint16_t>(DType::kBf16, 0x7F7F, 0x7F80), 1);
  EXPECT_EQ(distance<std::int32_t>(DType::kI32, -2, 5), 7);
  EXPECT_EQ(distance<std::uint8_t>(DType::kU8, 3, 250), 247);
}

TEST(CodeDistance, IsFarFromANaNToAllButTheSamePattern) {
  EXPECT_EQ(e4m3_distance(0x7F, 0x7F), 0);
  EXPECT_EQ(e4m3_distance(0x7F, 0xFF), kFar);
  EXPECT_EQ(e4m3_distance(0x7F, 0x7E), kFar);
  EXPECT_EQ((distance<std::uint8_t>(DType::kFp8E5M2, 0x7D, 0x7C)), kFar);
  EXPECT_EQ((distance<std::uint8_t>(DType::kFp8E5M2, 0x7B, 0x7C)), 1);
  EXPECT_EQ((distance<std::uint16_t>(DType::kBf16, 0x7FC0, 0x3F80)), kFar);
  EXPECT_EQ(distance(DType::kF32, std::numeric_limits<float>::quiet_NaN(), 1.0F), kFar);
}

TEST(CodeDistance, SaturatesWhereIntegersAreFurtherApart) {
  EXPECT_EQ(distance<std::int64_t>(DType::kI64, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()),
            kFar);
}

TEST(CodeDistance, RefusesMoreOrLessThanOneElement) {
  EXPECT_THROW(static_cast<void>(code_distance(DType::kBf16, bytes_of<std::uint8_t>(1),
                                               bytes_of<std::uint16_t>(1))),
               std::invalid_argument);
}

TEST(ByteSize, IsThatOfTheStoredElement) {
  EXPECT_EQ(byte_size(DType::kBf16), 2U);
  EXPECT_EQ(byte_size(DType::kFp8E4M3), 1U);
  EXPECT_EQ(byte_size(DType::kFp8E5M2), 1U);
  EXPECT_EQ(byte_size(DType::kF32), 4U);
  EXPECT_EQ(byte_size(DType::kI32), 4U);
  EXPECT_EQ(byte_size(DType::kI64), 8U);
  EXPECT_EQ(byte_size(DType::kU8), 1U);
}

}  // namespace
}  // namespace graphsan::model
