#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "probes/mechanisms.hpp"
#include "tests/support/facts_scene.hpp"

namespace graphsan::probes {
namespace {

/// Every replay writes the key rows of `ratios` times eager's values, one factor a step, and a word
/// of the first node is the capture's.
model::Facts scaled(const std::vector<double>& ratios) {
  model::Facts facts = test::facts_scene();
  for (std::size_t step = 0; step < ratios.size(); ++step) {
    for (int lane = 0; lane < 3; ++lane) {
      test::lose_row(facts, static_cast<int>(step), test::kKey0, lane);
      model::RowDifference& row = facts.rows.back();
      row.row_class = model::RowClass::kWrongValue;
      row.origin = {};
      row.value.kind = model::ValueKind::kConstantRatio;
      row.value.ratio = ratios[step];
    }
  }
  facts.padded_launches = facts.eager_launches;
  facts.padded_alignment = facts.alignment;
  facts.padded_alignment.at(0).kind = model::AlignmentKind::kOtherArguments;
  facts.padded_alignment.at(0).differing_fields = {"+8"};
  return facts;
}

TEST(WrongScaleProbe, NamesOneFactorInEveryStep) {
  EXPECT_EQ(make_wrong_scale_probe()->recognise(scaled({0.5, 0.5, 0.5})).size(), 1U);
}

TEST(WrongScaleProbe, LeavesAFactorThatFollowsAFrozenWordToFrozenScalar) {
  const model::Facts facts = scaled({0.5, 1.0 / 3, 0.25});
  EXPECT_TRUE(make_wrong_scale_probe()->recognise(facts).empty());
  EXPECT_EQ(make_frozen_scalar_probe()->recognise(facts).size(), 1U);
}

TEST(WrongScaleProbe, KeepsAFactorThatChangesWhereTheWordIsAScale) {
  model::Facts facts = scaled({0.5, 1.0 / 3, 0.25});
  facts.padded_alignment.at(0).differing_fields = {"k_scale"};
  EXPECT_EQ(make_wrong_scale_probe()->recognise(facts).size(), 1U);
}

}  // namespace
}  // namespace graphsan::probes
