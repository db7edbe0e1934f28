#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "run/case_run.hpp"
#include "step/minimax_m3/batch_plan.hpp"
#include "tests/support/check_scene.hpp"

namespace graphsan::check {
namespace {

using model::CacheKind;
using model::ChainStage;
using model::TopKKind;
using step::minimax_m3::BatchPlan;
using step::minimax_m3::Needle;
using step::minimax_m3::WritePath;
using ::testing::Contains;

CaseRequest prompt(WritePath path, const char* fault) {
  CaseRequest request;
  request.config.kv_dtype = model::DType::kFp8E5M2;
  request.config.write_path = path;
  request.config.batch = step::minimax_m3::Batch::kPrompt;
  request.config.tokens = request.config.bucket = 192;
  request.fault = fault;
  return request;
}

/// The block that the prompt hides its needle in.
int needle_block(const step::minimax_m3::Config& config) {
  const BatchPlan plan{config};
  for (const Needle& needle : plan.needles()) {
    if (needle.direction == 0) return static_cast<int>(needle.position / 128);
  }
  return -1;
}

std::int64_t position_of(const model::CaseReport& report, const model::TopKDifference& d) {
  return report.facts.steps[static_cast<std::size_t>(d.step)]
      .lanes[static_cast<std::size_t>(d.lane)]
      .position;
}

TEST(Needle, WithIndexKeyElidedEveryLaneBehindItLosesItsBlock) {
  const CaseRequest request = prompt(WritePath::kTwoStep, "elided-write:index-key");
  const test::CheckedCase checked = test::check_on_host(request);
  const model::CaseReport& report = checked.report;
  ASSERT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged);
  EXPECT_EQ(test::mechanisms(report),
            (std::map<std::string, std::set<CacheKind>>{{"elided-write", {CacheKind::kIndexKey}}}));
  EXPECT_EQ(report.findings[0].status, model::FindingStatus::kConfirmed);
  EXPECT_TRUE(checked.phases.contains(model::Phase::kCarried));

  ASSERT_FALSE(report.facts.chain.empty());
  EXPECT_EQ(report.facts.chain[0].stage, ChainStage::kIndexKeyWrite);
  EXPECT_TRUE(report.facts.chain[0].first);
  for (const model::ChainLink& link : report.facts.chain) {
    const bool sound =
        link.stage == ChainStage::kKeyValueWrite || link.stage == ChainStage::kNextLayer;
    EXPECT_EQ(link.broken, !sound) << model::to_string(link.stage);
  }

  const int block = needle_block(request.config);
  ASSERT_GE(block, 0);
  std::size_t behind = 0;
  std::size_t carried = 0;
  ASSERT_FALSE(report.facts.top_k.empty());
  for (const model::TopKDifference& difference : report.facts.top_k) {
    EXPECT_NE(difference.kind, TopKKind::kTie);
    carried += difference.carried ? 1 : 0;
    // Lanes whose own block is the needle's select it as their last block in both arms.
    if (position_of(report, difference) / 128 <= block) continue;
    ++behind;
    EXPECT_THAT(difference.only_eager, Contains(block));
    EXPECT_GT(difference.margin, 1.0F);
    EXPECT_EQ(difference.reproduced_from_graph_cache, true);
  }
  EXPECT_GT(behind, 0U);
  EXPECT_GT(carried, 0U);
  EXPECT_FALSE(report.facts.outputs.empty());
  for (const model::OutputDifference& output : report.facts.outputs) {
    EXPECT_EQ(output.reproduced_from_graph_cache, true);
  }
}

TEST(Needle, TheDamageIsCarriedIntoEveryDecodeStep) {
  const CaseRequest request = prompt(WritePath::kTwoStep, "elided-write:index-key");
  const model::CaseReport report = test::check_on_host(request).report;
  const int block = needle_block(request.config);
  std::set<int> steps;
  for (const model::TopKDifference& difference : report.facts.top_k) {
    if (!difference.carried || difference.step == 0) continue;
    EXPECT_THAT(difference.only_eager, Contains(block));
    steps.insert(difference.step);
  }
  EXPECT_EQ(steps, (std::set<int>{1, 2, 3}));
}

TEST(Needle, BodyALosesItThroughAllCaches) {
  const model::CaseReport report = test::check_on_host(prompt(WritePath::kInsertKvA, "")).report;
  EXPECT_EQ(test::mechanisms(report),
            (std::map<std::string, std::set<CacheKind>>{
                {"elided-write", {CacheKind::kKey, CacheKind::kValue, CacheKind::kIndexKey}}}));
  ASSERT_FALSE(report.facts.chain.empty());
  EXPECT_TRUE(report.facts.chain[0].broken);
  // The dense layer before the indexer loses its K and V first.
  EXPECT_EQ(report.facts.chain[1].stage, ChainStage::kKeyValueWrite);
  EXPECT_TRUE(report.facts.chain[1].first);
}

TEST(Needle, TheFixedPathSelectsItInBothArms) {
  const CaseRequest request = prompt(WritePath::kTwoStep, "");
  const test::CheckedCase checked = test::check_on_host(request);
  EXPECT_EQ(checked.report.verdict, model::Verdict::kAgreed) << checked.report.reason;
  EXPECT_FALSE(checked.phases.contains(model::Phase::kCarried));

  const auto device = device::make_host_device({});
  const auto step = make_builtin_step(*device, request);
  test::PhaseList phases;
  run::ArmRunner runner{*step, *device, phases, 0};
  const run::CaseRun run = run::run_case(runner, {});
  const int block = needle_block(request.config);
  std::size_t rows = 0;
  for (const run::StepLog& log : run.graph.steps) {
    for (const run::OutputRows& output : log.outputs) {
      if (output.layout.kind != CacheKind::kTopK) continue;
      const std::vector<model::Lane>& lanes =
          run.facts.steps[static_cast<std::size_t>(log.step)].lanes;
      for (std::size_t lane = 0; lane < output.lanes.size(); ++lane) {
        if (lanes[lane].position / 128 <= block) continue;
        const auto* ids = reinterpret_cast<const std::int32_t*>(output.lanes[lane].data());
        EXPECT_TRUE(std::find(ids, ids + output.layout.heads * output.layout.dim, block) !=
                    ids + output.layout.heads * output.layout.dim)
            << "step " << log.step << " lane " << lane;
        ++rows;
      }
    }
  }
  EXPECT_GT(rows, 3U);
}

}  // namespace
}  // namespace graphsan::check
