#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/buffer.hpp"
#include "reports/json/case_json.hpp"
#include "run/case_run.hpp"
#include "tests/support/check_scene.hpp"
#include "tests/support/wrapped_step.hpp"

namespace graphsan::check {
namespace {

using model::CacheKind;
using model::DType;
using step::minimax_m3::BreakSet;
using step::minimax_m3::Mode;
using step::minimax_m3::WritePath;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

CaseRequest sound_case() {
  return test::decode_case(DType::kFp8E5M2, WritePath::kTwoStep, Mode::kFull, true);
}

/// The report as JSON without what a clock measured.
std::string timeless_json(model::CaseReport report) {
  report.seconds = 0;
  report.timing = {};
  return reports::json::case_json(report).dump(1);
}

TEST(CaseOutcome, OneSeedGivesOneReport) {
  for (const WritePath path : {WritePath::kInsertKvA, WritePath::kInsertKvB}) {
    const CaseRequest request = test::decode_case(DType::kFp8E5M2, path, Mode::kPiecewise, true);
    EXPECT_EQ(timeless_json(test::check_on_host(request).report),
              timeless_json(test::check_on_host(request).report));
  }
}

TEST(CaseOutcome, AnotherSeedGivesOtherRowsAndTheSameMechanisms) {
  CaseRequest request =
      test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kPiecewise, true);
  const model::CaseReport one = test::check_on_host(request).report;
  request.config.seed = 4711;
  const model::CaseReport other = test::check_on_host(request).report;
  EXPECT_EQ(test::mechanisms(one), test::mechanisms(other));
  ASSERT_EQ(one.facts.rows.size(), other.facts.rows.size());
  EXPECT_NE(one.facts.rows[0].eager, other.facts.rows[0].eager);
}

TEST(CaseOutcome, TheProfilingRunWritesNothing) {
  for (const WritePath path :
       {WritePath::kFused, WritePath::kTwoStep, WritePath::kInsertKvA, WritePath::kInsertKvB}) {
    const test::CheckedCase checked =
        test::check_on_host(test::decode_case(DType::kFp8E5M2, path, Mode::kPiecewise, true));
    EXPECT_TRUE(checked.phases.contains(model::Phase::kProfile));
    EXPECT_THAT(checked.report.notes, Not(Contains(HasSubstr("profiling run"))));
  }
}

TEST(CaseOutcome, BodyBsWarmUpWithPaddingIsNotedAndCoveredByHistory) {
  const model::CaseReport report =
      test::check_on_host(
          test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvB, Mode::kFull, true))
          .report;
  ASSERT_EQ(report.facts.capture_changes.size(), 1U);
  const model::CaptureChange& change = report.facts.capture_changes[0];
  const model::CacheLayout& cache = report.facts.caches[static_cast<std::size_t>(change.cache)];
  EXPECT_EQ(cache.kind, CacheKind::kIndexKey);
  EXPECT_EQ(change.rows, std::vector<std::int64_t>{cache.rows() - 1});
  EXPECT_TRUE(change.overwritten_by_history);
  EXPECT_THAT(report.notes,
              Contains(HasSubstr("warm-up and capture changed 1 row of layer 1 index-key")));
}

TEST(CaseOutcome, BodyBsWarmUpBetweenRequestsLeavesItsRow) {
  CaseRequest request =
      test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvB, Mode::kFull, true);
  request.config.capture_at = step::minimax_m3::CaptureAt::kLive;
  const model::CaseReport report = test::check_on_host(request).report;
  ASSERT_EQ(report.facts.capture_changes.size(), 1U);
  EXPECT_FALSE(report.facts.capture_changes[0].overwritten_by_history);
  // The replays write the same bytes there again, and are seen to.
  EXPECT_EQ(
      test::mechanisms(report),
      (std::map<std::string, std::set<CacheKind>>{{"padding-write", {CacheKind::kIndexKey}}}));
}

TEST(CaseOutcome, ASoundCaptureChangesNothing) {
  const model::CaseReport report = test::check_on_host(sound_case()).report;
  EXPECT_TRUE(report.facts.capture_changes.empty());
  EXPECT_TRUE(report.notes.empty()) << report.notes.front();
}

TEST(CaseOutcome, AGraphWithoutNodesIsNeverAgreed) {
  CaseRequest request = sound_case();
  request.config.breaks = BreakSet{true, true, true, true};
  const model::CaseReport report = test::check_on_host(request).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_EQ(report.facts.nodes, 0U);
  EXPECT_THAT(report.reason, HasSubstr("has no nodes"));
}

TEST(CaseOutcome, OneReplayIsNeverAgreed) {
  CaseRequest request = sound_case();
  request.config.steps = 1;
  const model::CaseReport report = test::check_on_host(request).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_THAT(report.reason, HasSubstr("one replay proves little"));
}

TEST(CaseOutcome, AContextThatTopKCoversWholeIsNeverAgreed) {
  CaseRequest request = sound_case();
  request.config.context = 1024;
  const model::CaseReport report = test::check_on_host(request).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_THAT(report.reason, HasSubstr("the selection was not tested. Use --context 4096"));
}

/// The built-in step with one more output, which nobody writes.
class UnwrittenOutput final : public test::WrappedStep {
 public:
  UnwrittenOutput(device::Device& device, std::unique_ptr<step::Step> inner)
      : WrappedStep{std::move(inner)}, memory_{device, std::size_t{64} * 4} {}

  [[nodiscard]] std::vector<step::OutputView> outputs(int step, step::Arm arm) const override {
    std::vector<step::OutputView> views = WrappedStep::outputs(step, arm);
    step::OutputView extra = views.back();
    extra.view.layout.name = "forgotten output";
    extra.view.layout.heads = 1;
    extra.view.layout.dim = 32;
    extra.view.layout.page_stride = 64 * extra.view.layout.page_size;
    extra.view.layout.slot_stride = 64;
    extra.view.layout.head_stride = 64;
    extra.view.base = memory_.data();
    views.push_back(std::move(extra));
    return views;
  }

 private:
  device::Buffer memory_;
};

TEST(CaseOutcome, AnOutputThatKeepsItsNonceIsNeverAgreed) {
  const StepFactory factory = [](device::Device& device, const CaseRequest& request) {
    return std::make_unique<UnwrittenOutput>(device, make_builtin_step(device, request));
  };
  const model::CaseReport report = test::check_on_host(sound_case(), factory).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_THAT(report.reason, HasSubstr("still holds the nonce"));
  EXPECT_TRUE(report.facts.rows.empty());
  EXPECT_TRUE(report.facts.outputs.empty());
}

/// The built-in step whose inputs never change.
class FrozenInputs final : public test::WrappedStep {
 public:
  using WrappedStep::WrappedStep;
  [[nodiscard]] model::StepFacts plan(int step) const override {
    model::StepFacts facts = WrappedStep::plan(0);
    facts.step = step;
    return facts;
  }
  [[nodiscard]] std::vector<step::OutputView> outputs(int, step::Arm arm) const override {
    return WrappedStep::outputs(0, arm);
  }
  void prepare(int, step::Arm arm, device::StreamRef stream) override {
    WrappedStep::prepare(0, arm, stream);
  }
};

TEST(CaseOutcome, EqualInputsForEveryReplayAreNeverAgreed) {
  const StepFactory factory = [](device::Device& device, const CaseRequest& request) {
    return std::make_unique<FrozenInputs>(make_builtin_step(device, request));
  };
  const model::CaseReport report = test::check_on_host(sound_case(), factory).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_EQ(report.reason, "the inputs were the same for every replay");
}

TEST(CaseOutcome, TheCarriedPassIsTheOnlyOneWhereAskedFor) {
  CaseRequest request =
      test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kPiecewise, true);
  request.carry = true;
  const test::CheckedCase checked = test::check_on_host(request);
  EXPECT_EQ(checked.report.verdict, model::Verdict::kDiverged);
  EXPECT_TRUE(checked.phases.contains(model::Phase::kCarried));
  EXPECT_FALSE(checked.phases.contains(model::Phase::kReplay));
  for (const model::OutputDifference& output : checked.report.facts.outputs) {
    EXPECT_TRUE(output.carried);
  }
  EXPECT_FALSE(test::rows_of(checked.report, model::RowClass::kMissing).empty());
}

TEST(CaseOutcome, AUsageErrorLeavesTheCheck) {
  CaseRequest request = sound_case();
  request.config.bucket = 2;
  EXPECT_THROW(static_cast<void>(test::check_on_host(request)), step::minimax_m3::ConfigError);
  request = sound_case();
  request.fault = "no-such-fault";
  EXPECT_THROW(static_cast<void>(test::check_on_host(request)), step::minimax_m3::ConfigError);
}

}  // namespace
}  // namespace graphsan::check
