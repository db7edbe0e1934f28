#include "step/minimax_m3/fp8_convert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/numeric.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_rows.hpp"
#include "tests/support/safetensors.hpp"

namespace graphsan::test {
namespace {

using step::minimax_m3::bf16_to_float;
using step::minimax_m3::decode_fp8;
using step::minimax_m3::E4M3;
using step::minimax_m3::E5M2;
using step::minimax_m3::encode_fp8;
using step::minimax_m3::float_to_bf16;

/// The finite non-negative values of a format, made from its definition: code c is
/// (implicit bit + mantissa) × 2^(exponent - bias - mantissa bits).
std::vector<double> finite_values(int mantissa_bits, int bias, int largest_code) {
  std::vector<double> values;
  for (int code = 0; code <= largest_code; ++code) {
    const int exponent = code >> mantissa_bits;
    const int mantissa = code & ((1 << mantissa_bits) - 1);
    const int implicit = exponent == 0 ? 0 : 1 << mantissa_bits;
    values.push_back(std::ldexp(implicit + mantissa, std::max(exponent, 1) - bias - mantissa_bits));
  }
  return values;
}

/// Encodes by searching for the nearest value, which is slow and shares nothing with encode_fp8().
class NearestCode {
 public:
  NearestCode(int mantissa_bits, int bias, int largest_code)
      : values_{finite_values(mantissa_bits, bias, largest_code)} {}

  [[nodiscard]] std::uint8_t operator()(float value) const {
    if (std::isnan(value)) return 0x7F;
    const double magnitude = std::abs(static_cast<double>(value));
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    auto code = static_cast<std::size_t>(above - values_.begin());
    if (above == values_.end()) {
      code = values_.size() - 1;
    } else if (code > 0) {
      const double down = magnitude - values_[code - 1];
      const double up = values_[code] - magnitude;
      if (down < up || (down == up && code % 2 == 1)) --code;
    }
    return static_cast<std::uint8_t>(code | (std::signbit(value) ? 0x80U : 0U));
  }

 private:
  std::vector<double> values_;
};

const NearestCode& nearest_e4m3() {
  static const NearestCode nearest{3, 7, 0x7E};
  return nearest;
}

const NearestCode& nearest_e5m2() {
  static const NearestCode nearest{2, 15, 0x7B};
  return nearest;
}

void expect_nearest(std::uint32_t bits) {
  const auto value = std::bit_cast<float>(bits);
  ASSERT_EQ(encode_fp8<E4M3>(value), nearest_e4m3()(value)) << std::hex << bits;
  ASSERT_EQ(encode_fp8<E5M2>(value), nearest_e5m2()(value)) << std::hex << bits;
}

TEST(Fp8Convert, GivesTheUpstreamByteForEveryBf16Pattern) {
  const SafeTensors file{"fp8_codes.safetensors"};
  const auto patterns = file.get<std::uint16_t>("bf16_bits");
  ASSERT_EQ(patterns.size(), 65536U);
  const std::array<std::pair<std::string, float>, 3> scales{
      {{"1", 1.0F}, {"0p37", 0.37F}, {"3", 3.0F}}};
  for (const auto& [name, scale] : scales) {
    const auto e4m3 = file.get<std::uint8_t>("fp8_e4m3_scale_" + name);
    const auto e5m2 = file.get<std::uint8_t>("fp8_e5m2_scale_" + name);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const float value = bf16_to_float(patterns[i]) / scale;
      ASSERT_EQ(encode_fp8<E4M3>(value), e4m3[i]) << "pattern " << patterns[i] << " / " << name;
      ASSERT_EQ(encode_fp8<E5M2>(value), e5m2[i]) << "pattern " << patterns[i] << " / " << name;
    }
  }
}

TEST(Fp8Convert, FindsTheNearestCodeAroundEveryExponentEdge) {
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {  // sign included
    const std::uint32_t edge = exponent << 23;
    for (std::uint32_t step = 0; step < 64; ++step) {
      expect_nearest(edge + step);
      expect_nearest(edge - 1 - step);
    }
  }
}

TEST(Fp8Convert, FindsTheNearestCodeAroundEveryMidpointOfTwoCodes) {
  for (const auto& values : {finite_values(3, 7, 0x7E), finite_values(2, 15, 0x7B)}) {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const auto midpoint = static_cast<float>((values[i - 1] + values[i]) / 2);
      const auto bits = std::bit_cast<std::uint32_t>(midpoint);
      for (const std::uint32_t sign : {0U, 0x80000000U}) {
        for (const std::uint32_t near : {bits - 1, bits, bits + 1}) expect_nearest(near | sign);
      }
    }
  }
}

TEST(Fp8Convert, FindsTheNearestCodeInASweepOfAllFloats) {
  constexpr std::uint64_t kStride = 4099;  // a prime: every mantissa bit takes part
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += kStride) {
    expect_nearest(static_cast<std::uint32_t>(bits));
  }
}

TEST(Fp8Convert, SaturatesKeepsTheSignOfZeroAndHasOneNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(encode_fp8<E4M3>(infinity), 0x7E);
  EXPECT_EQ(encode_fp8<E4M3>(-infinity), 0xFE);
  EXPECT_EQ(encode_fp8<E5M2>(infinity), 0x7B);
  EXPECT_EQ(encode_fp8<E5M2>(-infinity), 0xFB);
  EXPECT_EQ(encode_fp8<E4M3>(449.0F), 0x7E);
  EXPECT_EQ(encode_fp8<E5M2>(-3.4e38F), 0xFB);
  EXPECT_EQ(encode_fp8<E4M3>(-0.0F), 0x80);
  EXPECT_EQ(encode_fp8<E5M2>(-0.0F), 0x80);
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFF800001U, 0xFFFFFFFFU}) {
    EXPECT_EQ(encode_fp8<E4M3>(std::bit_cast<float>(nan)), 0x7F);
    EXPECT_EQ(encode_fp8<E5M2>(std::bit_cast<float>(nan)), 0x7F);
  }
}

TEST(Fp8Convert, DecodesEveryCodeToItsValue) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const float e4m3 = model::e4m3_to_float(byte);
    const float e5m2 = model::e5m2_to_float(byte);
    if (std::isnan(e4m3)) {
      EXPECT_TRUE(std::isnan(decode_fp8<E4M3>(byte))) << code;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(decode_fp8<E4M3>(byte)),
                std::bit_cast<std::uint32_t>(e4m3))
          << code;
    }
    if (std::isnan(e5m2)) {
      EXPECT_TRUE(std::isnan(decode_fp8<E5M2>(byte))) << code;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(decode_fp8<E5M2>(byte)),
                std::bit_cast<std::uint32_t>(e5m2))
          << code;
    }
  }
}

/// Every code in rows of consecutive codes, with and without the ones that are no numbers.
template <typename Format>
void expect_rows_decode_as_codes_do(model::DType dtype) {
  constexpr int kCodes = 256;
  for (int first = 0; first < kCodes; ++first) {
    std::array<std::byte, step::minimax_m3::kHeadDim> codes{};
    for (std::size_t d = 0; d < codes.size(); ++d) {
      codes[d] = static_cast<std::byte>((static_cast<std::size_t>(first) + d) % kCodes);
    }
    std::array<float, codes.size()> row{};
    step::minimax_m3::widen_row(dtype, codes.data(), row.data());
    for (std::size_t d = 0; d < codes.size(); ++d) {
      const float one = decode_fp8<Format>(static_cast<std::uint8_t>(codes[d]));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(row[d]), std::bit_cast<std::uint32_t>(one))
          << "code " << static_cast<int>(codes[d]);
    }
  }
}

TEST(Fp8Convert, DecodesRowsAsItDecodesCodes) {
  expect_rows_decode_as_codes_do<E4M3>(model::DType::kFp8E4M3);
  expect_rows_decode_as_codes_do<E5M2>(model::DType::kFp8E5M2);
}

TEST(Bf16Convert, RoundsToNearestEvenAndKeepsExactValues) {
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    if (std::isnan(bf16_to_float(bits))) {
      EXPECT_EQ(float_to_bf16(bf16_to_float(bits)), 0x7FFF);
    } else {
      EXPECT_EQ(float_to_bf16(bf16_to_float(bits)), bits);
    }
  }
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3F808000U)), 0x3F80);  // a tie, to even
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7F80);
}

}  // namespace
}  // namespace graphsan::test
