#include "run/value_difference.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/output_log.hpp"

namespace graphsan::run {
namespace {

using model::DType;
using model::ValueKind;
using test::bf16_row;
using test::bytes_of;

/// Eight numbers that bf16 holds exactly, each in another binade.
const std::vector<float> kRow{1.0F, -2.0F, 3.0F, 0.5F, -0.25F, 6.0F, 96.0F, -1.5F};

std::vector<float> scaled(float factor) {
  std::vector<float> row = kRow;
  for (float& value : row) value *= factor;
  return row;
}

TEST(ValueDifference, IsNoneForEqualBytes) {
  const auto difference = value_difference(DType::kBf16, bf16_row(kRow), bf16_row(kRow));
  EXPECT_EQ(difference.kind, ValueKind::kNone);
  EXPECT_EQ(difference.elements, 0U);
}

TEST(ValueDifference, IsAConstantRatioWhenEveryElementIsScaledAlike) {
  const auto difference = value_difference(DType::kBf16, bf16_row(kRow), bf16_row(scaled(0.125F)));
  EXPECT_EQ(difference.kind, ValueKind::kConstantRatio);
  EXPECT_DOUBLE_EQ(difference.ratio, 0.125);
  EXPECT_EQ(difference.elements, kRow.size());
}

TEST(ValueDifference, ARatioMayBeNegative) {
  const auto difference = value_difference(DType::kBf16, bf16_row(kRow), bf16_row(scaled(-4.0F)));
  EXPECT_EQ(difference.kind, ValueKind::kConstantRatio);
  EXPECT_DOUBLE_EQ(difference.ratio, -4.0);
}

TEST(ValueDifference, IsRoundingUpToTwoUlpOfBf16) {
  std::vector<std::uint16_t> eager;
  for (const float value : kRow) eager.push_back(test::bf16(value));
  std::vector<std::uint16_t> graph = eager;
  graph[0] += 1;
  graph[3] -= 2;
  auto difference = value_difference(DType::kBf16, bytes_of(eager), bytes_of(graph));
  EXPECT_EQ(difference.kind, ValueKind::kRounding);
  EXPECT_EQ(difference.max_code_distance, 2);
  EXPECT_EQ(difference.elements, 2U);
  graph[5] += 3;
  difference = value_difference(DType::kBf16, bytes_of(eager), bytes_of(graph));
  EXPECT_NE(difference.kind, ValueKind::kRounding);
}

TEST(ValueDifference, IsRoundingWhereTermsCancelAndTheRestOfTheRowIsLarge) {
  std::vector<float> eager = kRow;
  std::vector<float> graph = kRow;
  eager[1] = 1e-5F;
  graph[1] = -1e-5F;
  EXPECT_EQ(value_difference(DType::kBf16, bf16_row(eager), bf16_row(graph)).kind,
            ValueKind::kRounding);
  EXPECT_EQ(value_difference(DType::kF32, bytes_of(eager), bytes_of(graph)).kind,
            ValueKind::kRounding);
  graph[1] = -1e-4F;
  EXPECT_EQ(value_difference(DType::kF32, bytes_of(eager), bytes_of(graph)).kind,
            ValueKind::kArbitrary);
  graph[1] = -0.1F;
  EXPECT_EQ(value_difference(DType::kBf16, bf16_row(eager), bf16_row(graph)).kind,
            ValueKind::kArbitrary);
}

TEST(ValueDifference, ARatioOfOneIsNoScale) {
  const std::vector<std::uint8_t> eager{0x3C, 0x3D, 0x3E, 0x3F, 0xBC, 0xBD, 0xBE, 0xBF};
  std::vector<std::uint8_t> graph = eager;
  graph[2] -= 2;  // 1.5 and 1.0
  EXPECT_EQ(value_difference(DType::kFp8E5M2, bytes_of(eager), bytes_of(graph)).kind,
            ValueKind::kArbitrary);
  std::vector<float> row = kRow;
  row[6] *= 1.000004F;
  EXPECT_EQ(value_difference(DType::kF32, bytes_of(kRow), bytes_of(row)).kind,
            ValueKind::kArbitrary);
}

TEST(ValueDifference, IsRoundingForOneCodeOfFp8AndNotForTwo) {
  const std::vector<std::uint8_t> eager{0x3C, 0x40, 0x38, 0x44, 0x3C, 0x3D, 0x41, 0x30};
  for (const DType dtype : {DType::kFp8E4M3, DType::kFp8E5M2}) {
    std::vector<std::uint8_t> graph = eager;
    graph[2] += 1;
    EXPECT_EQ(value_difference(dtype, bytes_of(eager), bytes_of(graph)).kind, ValueKind::kRounding);
    graph[2] += 1;
    graph[6] = 0x10;
    EXPECT_EQ(value_difference(dtype, bytes_of(eager), bytes_of(graph)).kind,
              ValueKind::kArbitrary);
  }
}

TEST(ValueDifference, SeesAScaleThroughTheRoundingOfFp8) {
  // 1.0, 1.25, 1.5, 1.75 and their negatives halved: one exponent less, the fraction unchanged.
  const std::vector<std::uint8_t> eager{0x3C, 0x3D, 0x3E, 0x3F, 0xBC, 0xBD, 0xBE, 0xBF};
  std::vector<std::uint8_t> graph = eager;
  for (std::uint8_t& code : graph) code -= 4;
  const auto difference = value_difference(DType::kFp8E5M2, bytes_of(eager), bytes_of(graph));
  EXPECT_EQ(difference.kind, ValueKind::kConstantRatio);
  EXPECT_NEAR(difference.ratio, 0.5, 0.5 * 0.27);
}

TEST(ValueDifference, IsNonFiniteWhenOneSideAloneIs) {
  std::vector<float> graph = kRow;
  graph[4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(value_difference(DType::kBf16, bf16_row(kRow), bf16_row(graph)).kind,
            ValueKind::kNonFinite);
  graph[4] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(value_difference(DType::kBf16, bf16_row(graph), bf16_row(kRow)).kind,
            ValueKind::kNonFinite);
}

TEST(ValueDifference, IsArbitraryForOtherValues) {
  const std::vector<float> other{7.0F, 1.0F, -3.0F, 64.0F, 2.0F, -0.5F, 1.0F, 12.0F};
  const auto difference = value_difference(DType::kBf16, bf16_row(kRow), bf16_row(other));
  EXPECT_EQ(difference.kind, ValueKind::kArbitrary);
  EXPECT_GT(difference.max_code_distance, 2);
}

TEST(ValueDifference, ARatioNeedsMoreThanAFewElements) {
  const std::vector<float> eager{1.0F, 2.0F, 4.0F};
  const std::vector<float> graph{2.0F, 4.0F, 8.0F};
  EXPECT_EQ(value_difference(DType::kBf16, bf16_row(eager), bf16_row(graph)).kind,
            ValueKind::kArbitrary);
}

TEST(ValueDifference, IntegersNeverRound) {
  const std::vector<std::int32_t> eager{1, 2, 3, 4};
  const std::vector<std::int32_t> graph{1, 2, 4, 4};
  const auto difference = value_difference(DType::kI32, bytes_of(eager), bytes_of(graph));
  EXPECT_EQ(difference.kind, ValueKind::kArbitrary);
  EXPECT_EQ(difference.elements, 1U);
}

}  // namespace
}  // namespace graphsan::run
