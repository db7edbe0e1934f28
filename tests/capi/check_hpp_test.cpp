// The C++ headers over the C ABI, and the matcher.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <graphsan/check.hpp>
#include <graphsan/gtest.hpp>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/capi/bucket_step.hpp"
#include "tests/capi/paged_step.hpp"

namespace graphsan {
namespace {

using test::BucketStep;
using test::PagedStep;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

CheckOptions on_host() {
  CheckOptions options;
  options.device = DeviceChoice::kHost;
  return options;
}

Report report_of(PagedStep::Bug bug) {
  PagedStep step{bug};
  return check(step, on_host());
}

TEST(CheckHpp, MatchesASoundStep) {
  PagedStep step;
  EXPECT_THAT(check(step, on_host()), IsGraphSafe());
}

TEST(CheckHpp, IsInconclusiveWhereAllOfAStepRunsEagerly) {
  const Report report = report_of(PagedStep::Bug::kBreak);
  EXPECT_EQ(report.verdict(), Verdict::kInconclusive) << report.text();
}

TEST(CheckHpp, RunsWhatAStepDoesBeforeItsBatches) {
  PagedStep step;
  EXPECT_THAT(check(step, on_host()), IsGraphSafe());
  EXPECT_GT(step.resets(), 1);
  EXPECT_GT(step.histories(), 1);
}

TEST(CheckHpp, ComparesWhatAStepPutsOut) {
  const Report report = report_of(PagedStep::Bug::kOutput);
  EXPECT_EQ(report.verdict(), Verdict::kDiverged);
  EXPECT_THAT(report.text(), AllOf(HasSubstr("output: "), HasSubstr("lanes differ")));
}

TEST(CheckHpp, KnowsASinkFromARow) {
  EXPECT_THAT(report_of(PagedStep::Bug::kPadWrites).text(), HasSubstr("padding-write"));
  EXPECT_THAT(report_of(PagedStep::Bug::kPadWritesSink), IsGraphSafe());
}

TEST(CheckHpp, HoldsNoArmToASink) {
  EXPECT_THAT(report_of(PagedStep::Bug::kEagerWritesSink), IsGraphSafe());
  EXPECT_THAT(report_of(PagedStep::Bug::kRestlessSink), IsGraphSafe());
  EXPECT_THAT(report_of(PagedStep::Bug::kPadWritesSink).text(),
              Not(HasSubstr("warm-up and capture changed")));
}

TEST(CheckHpp, RefusesArmsThatPutOutDifferentThings) {
  for (const auto bug : {PagedStep::Bug::kFewerOutputs, PagedStep::Bug::kOutputsSwapped}) {
    const Report report = report_of(bug);
    EXPECT_EQ(report.exit_code(), 4) << report.text();
    EXPECT_THAT(report.text(), AllOf(HasSubstr("outputs() of step 0"), HasSubstr("sums again")));
  }
}

TEST(CheckHpp, KnowsTheInputsOfEachBucketsGraph) {
  BucketStep sound;
  EXPECT_THAT(check(sound, on_host()), IsGraphSafe());
  BucketStep faulty{true};
  const Report report = check(faulty, on_host());
  EXPECT_EQ(report.verdict(), Verdict::kDiverged) << report.text();
  EXPECT_THAT(report.text(), AllOf(HasSubstr("elided-write"), Not(HasSubstr("moved-buffer ("))));
}

TEST(CheckHpp, SaysWhetherABatchWasPadded) {
  constexpr const char* kUntested = "padding was not tested";
  BucketStep exact;
  EXPECT_THAT(check(exact, on_host()).json(), HasSubstr(kUntested));
  EXPECT_THAT(report_of(PagedStep::Bug::kNone).json(), Not(HasSubstr(kUntested)));
}

TEST(CheckHpp, ReportsTheSeedOfTheRun) {
  PagedStep step;
  CheckOptions options = on_host();
  options.seed = 7;
  EXPECT_THAT(check(step, options).json(), HasSubstr("\"seed\": 7"));
}

TEST(CheckHpp, NamesTheFrozenArgument) {
  const Report report = report_of(PagedStep::Bug::kCountByValue);
  EXPECT_EQ(report.verdict(), Verdict::kDiverged);
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_FALSE(report.agreed());
  EXPECT_THAT(report.text(), AllOf(HasSubstr("frozen-scalar (confirmed)"), HasSubstr("lanes"),
                                   HasSubstr("paged_step.hpp: write")));
  EXPECT_THAT(report.json(), HasSubstr("\"frozen-scalar\""));
  EXPECT_THAT(report.html(), HasSubstr("frozen-scalar"));
}

TEST(CheckHpp, FailsATestWithTheFindingAsItsMessage) {
  const Report report = report_of(PagedStep::Bug::kCountByValue);
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(::testing::ExplainMatchResult(IsGraphSafe(), report, &listener));
  EXPECT_THAT(listener.str(),
              AllOf(HasSubstr("DIVERGED"), HasSubstr("frozen-scalar"), HasSubstr("where"),
                    HasSubstr("evidence"), HasSubstr("experiment"), HasSubstr("fix"),
                    HasSubstr("SUMMARY: graphsan: diverged")));
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(report_of(PagedStep::Bug::kCountByValue), IsGraphSafe()),
                          "frozen-scalar");
}

TEST(CheckHpp, PrintsAReportOnOneLine) {
  std::ostringstream out;
  out << report_of(PagedStep::Bug::kNone);
  EXPECT_EQ(out.str(), "agreed (exit code 0)");
}

TEST(CheckHpp, NeverMatchesAStepThatDoesNothing) {
  const Report report = report_of(PagedStep::Bug::kIdle);
  EXPECT_EQ(report.verdict(), Verdict::kDiverged) << report.text();
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_THAT(report, Not(IsGraphSafe()));
}

TEST(CheckHpp, CarriesAnExceptionOverAsAFailureOfTheStep) {
  const Report report = report_of(PagedStep::Bug::kThrow);
  EXPECT_EQ(report.verdict(), Verdict::kInconclusive);
  EXPECT_EQ(report.exit_code(), 4);
  EXPECT_THAT(report.text(), AllOf(HasSubstr("run() of step 1"), HasSubstr("sequence 2 is lost")));
  EXPECT_THAT(report, Not(IsGraphSafe()));
}

TEST(CheckHpp, RunsAnEagerOpWithinAnotherAsPartOfIt) {
  const Report report = report_of(PagedStep::Bug::kNestedBreak);
  EXPECT_EQ(report.exit_code(), 3) << report.text();
}

TEST(CheckHpp, CarriesOverWhatAnEagerOpThrows) {
  EXPECT_THAT(report_of(PagedStep::Bug::kBreakThrows).text(), HasSubstr("no such page"));
}

TEST(CheckHpp, SaysWhatIsWrongWithADeclaration) {
  EXPECT_THAT(report_of(PagedStep::Bug::kNoPages).text(), HasSubstr("has 0 pages"));
  EXPECT_THAT(report_of(PagedStep::Bug::kShortBatch).text(), HasSubstr("2 positions for 3 slots"));
}

TEST(CheckHpp, MakesAStepOfAFactoryForEachCheck) {
  int made = 0;
  const StepFactory factory = [&](Host& host) {
    EXPECT_FALSE(host.is_cuda());
    ++made;
    return std::make_unique<PagedStep>();
  };
  EXPECT_THAT(check(factory, on_host()), IsGraphSafe());
  EXPECT_THAT(check(factory, on_host()), IsGraphSafe());
  EXPECT_EQ(made, 2);
}

TEST(CheckHpp, LetsAStepUseItsHostWhileItIsDestroyed) {
  struct Last : PagedStep {
    explicit Last(int& destroyed) : destroyed_{&destroyed} {}
    Last(const Last&) = delete;
    Last& operator=(const Last&) = delete;
    ~Last() override {
      EXPECT_FALSE(host().is_cuda());
      ++*destroyed_;
    }
    int* destroyed_;
  };
  int destroyed = 0;
  const StepFactory factory = [&](Host&) { return std::make_unique<Last>(destroyed); };
  EXPECT_THAT(check(factory, on_host()), IsGraphSafe());
  EXPECT_EQ(destroyed, 1);
}

TEST(CheckHpp, SaysWhyAFactoryMadeNoStep) {
  const StepFactory throws = [](Host&) -> std::unique_ptr<Step> {
    throw std::runtime_error{"no model at /models/m3"};
  };
  EXPECT_THAT(check(throws, on_host()).text(), HasSubstr("no model at /models/m3"));
  const StepFactory nothing = [](Host&) { return std::unique_ptr<Step>{}; };
  EXPECT_THAT(check(nothing, on_host()).text(), HasSubstr("the factory made no step"));
}

TEST(CheckHpp, ChecksOneStepObjectSeveralTimes) {
  PagedStep step;
  EXPECT_THAT(check(step, on_host()), IsGraphSafe());
  EXPECT_THAT(check(step, on_host()), IsGraphSafe());
  EXPECT_EQ(step.set_ups(), 2);
}

TEST(CheckHpp, PassesItsOptionsOn) {
  PagedStep step;
  CheckOptions options = on_host();
  options.record = "/no/such/folder/run.graphsan";
  try {
    static_cast<void>(check(step, options));
    FAIL() << "it wrote a recording into no folder";
  } catch (const BadUsage& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/folder"));
  }
  PagedStep faulty{PagedStep::Bug::kCountByValue};
  options = on_host();
  options.carry = true;
  options.capture_at = CaptureAt::kLive;
  options.capture_metadata = CaptureMetadata::kNone;
  EXPECT_THAT(check(faulty, options).json(), HasSubstr("\"carry\": true"));
}

TEST(CheckHpp, ThrowsNoDeviceWhereThereIsNoGpu) {
  const auto problem = device_problem(DeviceChoice::kCuda);
  EXPECT_EQ(device_problem(DeviceChoice::kHost), std::nullopt);
  if (!problem) GTEST_SKIP() << "this machine has a GPU";
  PagedStep step;
  CheckOptions options;
  options.device = DeviceChoice::kCuda;
  try {
    static_cast<void>(check(step, options));
    FAIL() << "it checked on a GPU that is not there";
  } catch (const NoDevice& error) {
    EXPECT_EQ(error.what(), *problem);
  }
}

}  // namespace
}  // namespace graphsan
