#include "diagnose/step_experiments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/check_scene.hpp"

namespace graphsan::diagnose {
namespace {

using model::DType;
using step::minimax_m3::Mode;
using step::minimax_m3::WritePath;
using ::testing::HasSubstr;

/// A case that has run, and experiments on it.
class Bench {
 public:
  explicit Bench(const check::CaseRequest& request)
      : device_{device::make_host_device({})},
        step_{check::make_builtin_step(*device_, request)},
        runner_{std::make_unique<run::ArmRunner>(*step_, *device_, phases_, 0)},
        run_{run::run_case(*runner_, options_)},
        experiments_{*runner_, run_, options_, phases_, 0} {}

  [[nodiscard]] ExperimentResult run_change(Change change, const std::vector<RowKey>& rows) {
    return experiments_.run({.change = change, .names = {}, .nodes = {}}, rows);
  }
  [[nodiscard]] std::vector<RowKey> rows() const {
    std::vector<RowKey> keys;
    for (const model::RowDifference& row : run_.facts.rows) {
      keys.push_back({row.step, row.cache, row.row});
    }
    return keys;
  }
  /// The rows that the captured graphs of the case still get wrong.
  [[nodiscard]] std::vector<model::RowDifference> replay_again() {
    const run::ArmLog log =
        runner_->replay(run_.capture, run_.eager, model::Phase::kReplay, run::PassOptions{});
    return run::differing(*runner_, run_.eager, log);
  }
  [[nodiscard]] const run::CaseRun& run() const { return run_; }

 private:
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<step::Step> step_;
  test::PhaseList phases_;
  run::CaseOptions options_;
  std::unique_ptr<run::ArmRunner> runner_;
  run::CaseRun run_;
  StepExperiments experiments_;
};

check::CaseRequest fp8(WritePath path, Mode mode, bool padded) {
  return test::decode_case(DType::kFp8E5M2, path, mode, padded);
}

std::string reason_of(const ExperimentResult& result) {
  const auto* reason = std::get_if<NotRunnable>(&result);
  return reason == nullptr ? "" : reason->reason;
}

TEST(StepExperiments, LiveMetadataCuresAnElidedWriteAndTheShamDoesNot) {
  Bench bench{fp8(WritePath::kInsertKvA, Mode::kPiecewise, true)};
  const std::vector<RowKey> rows = bench.rows();
  const auto result = bench.run_change(Change::kLiveCapture, rows);
  const auto& outcome = std::get<Outcome>(result);
  EXPECT_EQ(outcome.rows, rows.size());
  EXPECT_EQ(outcome.hit_with_change, rows.size());
  EXPECT_EQ(outcome.hit_in_sham, 0U);
  EXPECT_GE(outcome.repeats, 2);
  EXPECT_TRUE(outcome.confirms());
}

TEST(StepExperiments, LiveMetadataDoesNotCureAPaddingWrite) {
  Bench bench{fp8(WritePath::kInsertKvB, Mode::kPiecewise, true)};
  const auto result = bench.run_change(Change::kLiveCapture, bench.rows());
  EXPECT_EQ(std::get<Outcome>(result).hit_with_change, 0U);
}

TEST(StepExperiments, AFullBucketCuresAPaddingWriteAndTheShamDoesNot) {
  Bench bench{fp8(WritePath::kInsertKvB, Mode::kPiecewise, true)};
  const auto result = bench.run_change(Change::kFillBucket, bench.rows());
  EXPECT_TRUE(std::get<Outcome>(result).confirms());
}

TEST(StepExperiments, AFullBucketDoesNotCureAnElidedWrite) {
  Bench bench{fp8(WritePath::kInsertKvA, Mode::kPiecewise, true)};
  const auto result = bench.run_change(Change::kFillBucket, bench.rows());
  EXPECT_EQ(std::get<Outcome>(result).hit_with_change, 0U);
}

check::CaseRequest padded_prefill(WritePath path) {
  check::CaseRequest request = fp8(path, Mode::kPiecewise, true);
  request.config.batch = step::minimax_m3::Batch::kPrefill;
  request.config.tokens = 5;
  request.config.bucket = 8;
  return request;
}

TEST(StepExperiments, AFullBucketIsLookedAtWhereEachLaneWritesInAPrefill) {
  // With other lanes real, a later step's rows are those of other tokens.
  Bench elided{padded_prefill(WritePath::kInsertKvA)};
  const std::vector<RowKey> rows = elided.rows();
  EXPECT_THAT(rows, ::testing::Contains(::testing::Field(&RowKey::step, ::testing::Gt(1))));
  const auto result = elided.run_change(Change::kFillBucket, rows);
  EXPECT_EQ(std::get<Outcome>(result).hit_with_change, 0U);
  Bench leaking{padded_prefill(WritePath::kInsertKvB)};
  const auto cured = leaking.run_change(Change::kFillBucket, leaking.rows());
  EXPECT_TRUE(std::get<Outcome>(cured).confirms());
}

TEST(StepExperiments, AFullBucketCannotBeFilled) {
  Bench bench{fp8(WritePath::kInsertKvA, Mode::kPiecewise, false)};
  EXPECT_THAT(reason_of(bench.run_change(Change::kFillBucket, bench.rows())),
              HasSubstr("the bucket is full"));
}

TEST(StepExperiments, PoisonReachesTheRowThatAPadLaneWritesAndNoOther) {
  Bench bench{fp8(WritePath::kInsertKvB, Mode::kFull, true)};
  const std::vector<RowKey> rows = bench.rows();
  const auto result = bench.run_change(Change::kPoisonPadLanes, rows);
  const auto& outcome = std::get<Outcome>(result);
  EXPECT_EQ(outcome.hit_with_change, rows.size());
  EXPECT_EQ(outcome.hit_in_sham, 0U);
  // A row that a real lane writes does not depend on the pad lanes.
  const std::vector<RowKey> real{
      {0, rows[0].cache, bench.run().facts.steps[0].lanes[0].index_slot}};
  EXPECT_EQ(std::get<Outcome>(bench.run_change(Change::kPoisonPadLanes, real)).hit_with_change, 0U);
}

TEST(StepExperiments, PuttingNodesInOrderHelpsNoElidedWrite) {
  Bench bench{fp8(WritePath::kInsertKvA, Mode::kPiecewise, true)};
  const auto result = bench.run_change(Change::kSerialise, bench.rows());
  const auto& outcome = std::get<Outcome>(result);
  EXPECT_EQ(outcome.hit_with_change, 0U);
  EXPECT_EQ(outcome.hit_in_sham, 0U);
}

TEST(StepExperiments, LeaveTheCapturedGraphsAsTheyWere) {
  Bench bench{fp8(WritePath::kInsertKvB, Mode::kPiecewise, true)};
  const std::vector<RowKey> rows = bench.rows();
  static_cast<void>(bench.run_change(Change::kSerialise, rows));
  static_cast<void>(bench.run_change(Change::kFillBucket, rows));
  static_cast<void>(bench.run_change(Change::kLiveCapture, rows));
  static_cast<void>(bench.run_change(Change::kPoisonPadLanes, rows));
  std::vector<RowKey> again;
  for (const model::RowDifference& row : bench.replay_again()) {
    again.push_back({row.step, row.cache, row.row});
  }
  EXPECT_EQ(again, rows);
}

TEST(StepExperiments, NeedAStepThatReplaysAGraph) {
  check::CaseRequest request = fp8(WritePath::kInsertKvA, Mode::kFullDecodeOnly, true);
  request.config.batch = step::minimax_m3::Batch::kPrefill;
  Bench bench{request};
  const std::vector<RowKey> rows{{0, 0, 1}};
  EXPECT_EQ(reason_of(bench.run_change(Change::kLiveCapture, rows)), "no step replays a graph");
  EXPECT_EQ(reason_of(bench.run_change(Change::kFillBucket, rows)), "no step replays a graph");
  EXPECT_EQ(reason_of(bench.run_change(Change::kPoisonPadLanes, rows)), "no step replays a graph");
  EXPECT_EQ(reason_of(bench.run_change(Change::kSerialise, rows)), "no step replays a graph");
}

TEST(StepExperiments, LiveMetadataNeedsARow) {
  Bench bench{fp8(WritePath::kTwoStep, Mode::kPiecewise, true)};
  EXPECT_EQ(reason_of(bench.run_change(Change::kLiveCapture, {})), "nothing to look at");
}

}  // namespace
}  // namespace graphsan::diagnose
