#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "run/consequences.hpp"
#include "tests/support/output_log.hpp"

namespace graphsan::run {
namespace {

using Lanes = std::vector<std::vector<float>>;

const Lanes kEager{{1, 2, 3, 2}, {4, 4, 4, 4}};

ArmLog log_of(const Lanes& lanes) {
  StepLog step;
  step.outputs.push_back(test::output_rows(5, lanes));
  ArmLog log;
  log.steps.push_back(std::move(step));
  return log;
}

TEST(CompareOutputs, SaysNothingOfEqualOutputs) {
  EXPECT_TRUE(
      compare_outputs(test::covered_steps(1), log_of(kEager), log_of(kEager), false).empty());
}

TEST(CompareOutputs, MeasuresTheErrorOfEachLaneThatDiffers) {
  Lanes graph = kEager;
  graph[1] = {4, 4, 5, 3};
  const auto found = compare_outputs(test::covered_steps(1), log_of(kEager), log_of(graph), false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].step, 0);
  EXPECT_EQ(found[0].layer, 5);
  EXPECT_EQ(found[0].lane, 1);
  EXPECT_DOUBLE_EQ(found[0].max_abs, 1);
  EXPECT_DOUBLE_EQ(found[0].mean_rel, 2.0 / 16.0);
  // From 4 down to 3 is half a binade: 64 of bf16's 128 values.
  EXPECT_EQ(found[0].max_code_distance, 64);
  EXPECT_FALSE(found[0].non_finite);
  EXPECT_FALSE(found[0].reproduced_from_graph_cache.has_value());
}

TEST(CompareOutputs, LeavesNonFiniteElementsOutOfTheError) {
  Lanes graph = kEager;
  graph[0][2] = std::numeric_limits<float>::quiet_NaN();
  graph[0][3] = 1;
  const auto found = compare_outputs(test::covered_steps(1), log_of(kEager), log_of(graph), false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].non_finite);
  EXPECT_DOUBLE_EQ(found[0].max_abs, 1);
  EXPECT_DOUBLE_EQ(found[0].mean_rel, 1.0 / 5.0);
}

TEST(CompareOutputs, SaysWhetherReferenceAttentionGivesTheSame) {
  Lanes graph = kEager;
  graph[0] = {0, 0, 0, 0};
  graph[1] = {1, 1, 1, 1};
  ArmLog log = log_of(graph);
  log.steps[0].attended[5] = {test::bf16_row(graph[0]), test::bf16_row(kEager[1])};
  const auto found = compare_outputs(test::covered_steps(1), log_of(kEager), log, false);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].reproduced_from_graph_cache, true);
  EXPECT_EQ(found[1].reproduced_from_graph_cache, false);
}

TEST(CompareOutputs, LooksAtCoveredStepsOnlyUnlessTheDamageIsCarried) {
  auto steps = test::covered_steps(1);
  steps[0].covered = false;
  Lanes graph = kEager;
  graph[0][0] = 8;
  EXPECT_TRUE(compare_outputs(steps, log_of(kEager), log_of(graph), false).empty());
  const auto carried = compare_outputs(steps, log_of(kEager), log_of(graph), true);
  ASSERT_EQ(carried.size(), 1U);
  EXPECT_TRUE(carried[0].carried);
}

}  // namespace
}  // namespace graphsan::run
