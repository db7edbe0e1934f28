#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "check/check_in_process.hpp"
#include "check/run_check.hpp"
#include "record/recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wrapped_step.hpp"

namespace graphsan::test {
namespace {

using check::CaseRequest;
using check::CheckOptions;
using model::CaseReport;
using model::RunReport;
using model::Verdict;
using step::minimax_m3::ConfigError;
using testing::HasSubstr;

/// Seconds without a sign of life; far more than a phase of the small cases takes.
constexpr double kWatchdog = 5;

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* kDeathByAccess = "the worker ended with status";
#else
constexpr const char* kDeathByAccess = "killed by signal 11";
#endif

void write_to_nowhere() {
  // Volatile, so that the compiler does not see that nobody owns the address.
  static volatile std::uintptr_t address = 64;
  *reinterpret_cast<volatile std::uint64_t*>(address) = 1;
}

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}

/// Dies as the case's title says: in an eager run, in the capture, before a replay.
class MortalStep final : public WrappedStep {
 public:
  MortalStep(std::unique_ptr<step::Step> inner, std::string fate)
      : WrappedStep{std::move(inner)}, fate_{std::move(fate)} {}

  void run(int step, step::Arm arm, device::StreamRef stream) override {
    if (fate_ == "killed" && step == 1) static_cast<void>(std::raise(SIGKILL));
    if (fate_ == "throws" && step == 1) throw std::runtime_error{"the weights are gone"};
    WrappedStep::run(step, arm, stream);
  }
  [[nodiscard]] std::unique_ptr<step::CapturedStep> capture(const step::CaptureRequest& request,
                                                            device::StreamRef stream) override {
    if (fate_ == "hangs") hang();
    ++captures_;
    // The first one is the case's own, those after it are experiments'.
    if (captures_ > 1 && fate_ == "killed in an experiment") static_cast<void>(std::raise(SIGKILL));
    if (captures_ > 1 && fate_ == "hangs in an experiment") hang();
    if (captures_ > 1 && fate_ == "throws in an experiment") throw std::runtime_error{"no more"};
    return WrappedStep::capture(request, stream);
  }
  void prepare(int step, step::Arm arm, device::StreamRef stream) override {
    if (fate_ == "illegal access" && arm == step::Arm::kGraph && step == 1) write_to_nowhere();
    replays_ = replays_ || (arm == step::Arm::kGraph && step == 1);
    WrappedStep::prepare(step, arm, stream);
  }
  /// Asked for by what looks at the graph once the arms have been compared.
  [[nodiscard]] device::AddressMap addresses() const override {
    if (replays_ && fate_ == "loses the device later") {
      throw device::DeviceError{device::ErrorKind::kSticky, "the context is gone"};
    }
    return WrappedStep::addresses();
  }

 private:
  bool replays_ = false;
  std::string fate_;
  int captures_ = 0;
};

std::unique_ptr<step::Step> make_mortal(device::Device& device, const CaseRequest& request) {
  return std::make_unique<MortalStep>(check::make_builtin_step(device, request), request.title);
}

/// A small case; insert-kv-a under a piecewise capture loses its writes, two-step does not.
CaseRequest small_case(const std::string& title, step::minimax_m3::WritePath path) {
  CaseRequest request;
  request.config.kv_dtype = model::DType::kFp8E5M2;
  request.config.write_path = path;
  request.config.tokens = 2;
  request.config.bucket = 2;
  request.config.steps = 2;
  request.config.layers = 1;
  request.config.context = 2304;
  request.title = title;
  return request;
}

CaseRequest right_case(const std::string& title = "") {
  return small_case(title, step::minimax_m3::WritePath::kTwoStep);
}

CaseRequest wrong_case() { return small_case("", step::minimax_m3::WritePath::kInsertKvA); }

CheckOptions options_for(std::vector<CaseRequest> cases, int jobs = 1) {
  CheckOptions options;
  options.cases = std::move(cases);
  options.device = check::DeviceChoice::kHost;
  options.factory = make_mortal;
  options.jobs = jobs;
  options.watchdog_seconds = kWatchdog;
  options.error_budgets = false;
  return options;
}

void expect_death(const CaseReport& report, const std::string& phase, int step,
                  const std::string& words) {
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(report.failure->phase, phase);
  EXPECT_EQ(report.failure->step, step);
  EXPECT_THAT(report.failure->what, HasSubstr(words));
  EXPECT_FALSE(report.failure->remedy.empty());
  EXPECT_THAT(report.reason, HasSubstr(words));
  EXPECT_THAT(report.reproduce, HasSubstr("graphsan check --device host"));
  EXPECT_TRUE(report.findings.empty());
}

void expect_agreed(const CaseReport& report) {
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.verdict, Verdict::kAgreed) << report.reason;
}

void expect_elided_write(const CaseReport& report) {
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.verdict, Verdict::kDiverged);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().mechanism, "elided-write");
}

class SupervisorWithJobs : public testing::TestWithParam<int> {};

TEST_P(SupervisorWithJobs, LosesExactlyTheCasesWhoseWorkersDie) {
  const RunReport report = check::run_check(
      options_for({right_case(), right_case("killed"), right_case("hangs"),
                   right_case("illegal access"), wrong_case(), right_case("throws"), right_case()},
                  GetParam()));
  ASSERT_EQ(report.cases.size(), 7U);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(report.cases[static_cast<std::size_t>(i)].index, i);
  expect_agreed(report.cases[0]);
  expect_death(report.cases[1], "control", 1, "killed by signal 9");
  expect_death(report.cases[2], "capture", -1, "no sign of life for 5 s");
  expect_death(report.cases[3], "replay", 1, kDeathByAccess);
  EXPECT_THAT(report.cases[1].failure->remedy, HasSubstr("the other cases are not affected"));
  expect_elided_write(report.cases[4]);
  expect_death(report.cases[5], "control", 1, "the weights are gone");
  expect_agreed(report.cases[6]);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.verdict, Verdict::kDiverged);
  EXPECT_EQ(report.exit_code, model::kExitFailed);
}

CaseRequest wrong_case(const std::string& title) {
  return small_case(title, step::minimax_m3::WritePath::kInsertKvA);
}

TEST_P(SupervisorWithJobs, LosesNoVerdictToAnExperimentThatEndsItsWorker) {
  const RunReport report = check::run_check(
      options_for({wrong_case("killed in an experiment"), wrong_case("hangs in an experiment"),
                   wrong_case("throws in an experiment"), wrong_case()},
                  GetParam()));
  ASSERT_EQ(report.cases.size(), 4U);
  const char* const words[] = {"killed by signal 9", "no sign of life for 5 s", "no more"};
  for (std::size_t i = 0; i < 3; ++i) {
    const CaseReport& one = report.cases[i];
    EXPECT_FALSE(one.failure.has_value());
    EXPECT_EQ(one.verdict, Verdict::kDiverged);
    ASSERT_EQ(one.findings.size(), 1U) << i;
    EXPECT_EQ(one.findings.front().mechanism, "elided-write");
    EXPECT_EQ(one.findings.front().status, model::FindingStatus::kSuspected);
    EXPECT_THAT(one.findings.front().not_runnable, HasSubstr(words[i]));
  }
  expect_elided_write(report.cases[3]);
  EXPECT_EQ(report.cases[3].findings.front().status, model::FindingStatus::kConfirmed);
  EXPECT_EQ(report.exit_code, model::kExitDiverged);
}

INSTANTIATE_TEST_SUITE_P(Jobs, SupervisorWithJobs, testing::Values(1, 2));

TEST(Supervisor, GivesTheNextCaseToAFreshWorkerAfterAStepThatThrew) {
  std::vector<CaseRequest> cases;
  for (int i = 0; i < 6; ++i) {
    cases.push_back(right_case("throws"));
    cases.push_back(right_case());
  }
  const RunReport report = check::run_check(options_for(std::move(cases)));
  ASSERT_EQ(report.cases.size(), 12U);
  for (std::size_t i = 0; i < report.cases.size(); i += 2) {
    expect_death(report.cases[i], "control", 1, "the weights are gone");
    expect_agreed(report.cases[i + 1]);
  }
}

/// Dies in its first experiment, and leaves a file that tells the next process so.
class DyingStep final : public WrappedStep {
 public:
  DyingStep(std::unique_ptr<step::Step> inner, std::string marker)
      : WrappedStep{std::move(inner)}, marker_{std::move(marker)} {}

  [[nodiscard]] std::unique_ptr<step::CapturedStep> capture(const step::CaptureRequest& request,
                                                            device::StreamRef stream) override {
    if (captures_++ > 0) {
      write_file(marker_, "");
      static_cast<void>(std::raise(SIGKILL));
    }
    return WrappedStep::capture(request, stream);
  }

 private:
  std::string marker_;
  int captures_ = 0;
};

/// One wrong case whose step dies in its first experiment; `then` makes the step of the next run.
CheckOptions dying_case(const std::filesystem::path& marker, const check::StepFactory& then) {
  CheckOptions options = options_for({wrong_case()});
  options.factory = [=](device::Device& device,
                        const CaseRequest& request) -> std::unique_ptr<step::Step> {
    if (std::filesystem::exists(marker)) return then(device, request);
    return std::make_unique<DyingStep>(check::make_builtin_step(device, request), marker);
  };
  return options;
}

TEST(Supervisor, ReportsTheCaseAsItWasBeforeExperimentsWhereNoFreshWorkerGetsThatFar) {
  const TempFolder folder;
  const CheckOptions options =
      dying_case(folder / "marker", [](device::Device& device, const CaseRequest& request) {
        return std::make_unique<MortalStep>(check::make_builtin_step(device, request), "killed");
      });
  const RunReport report = check::run_check(options);
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_FALSE(report.cases[0].failure.has_value());
  EXPECT_EQ(report.cases[0].verdict, Verdict::kDiverged);
  ASSERT_FALSE(report.cases[0].findings.empty());
  EXPECT_EQ(report.cases[0].findings.front().status, model::FindingStatus::kSuspected);
  EXPECT_THAT(report.cases[0].findings.front().not_runnable, HasSubstr("did not come to an end"));
  EXPECT_THAT(report.cases[0].notes, testing::Contains(HasSubstr("killed by signal 9")));
}

TEST(Supervisor, LetsNoSecondRunOfACaseTakeBackWhatTheFirstSaw) {
  const TempFolder folder;
  const CheckOptions options =
      dying_case(folder / "marker", [](device::Device& device, const CaseRequest&) {
        return check::make_builtin_step(device, right_case());
      });
  const RunReport report = check::run_check(options);
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kDiverged);
  EXPECT_THAT(report.cases[0].notes, testing::Contains(HasSubstr("the next run said \"agreed\"")));
}

/// A case as of a step of somebody's own, which is captured once more after the comparison.
CheckOptions foreign_case(const std::string& fate, step::minimax_m3::WritePath path) {
  CaseRequest request = small_case(fate, path);
  request.plugin = "libmortal.so";
  CheckOptions options = options_for({request});
  options.factory = [fate](device::Device& device, const CaseRequest& of) {
    CaseRequest built_in = of;
    built_in.plugin.clear();
    return std::make_unique<MortalStep>(check::make_builtin_step(device, built_in), fate);
  };
  return options;
}

void expect_kept_divergence(const RunReport& report) {
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kDiverged) << report.cases[0].reason;
  EXPECT_THAT(report.cases[0].notes, testing::Contains(HasSubstr("the context is gone")));
}

TEST(Supervisor, KeepsWhatTheComparisonSawWhereTheDeviceIsLostAfterIt) {
  expect_kept_divergence(check::run_check(
      foreign_case("loses the device later", step::minimax_m3::WritePath::kInsertKvA)));
}

TEST(CheckInProcess, KeepsWhatTheComparisonSawWhereTheDeviceIsLostAfterIt) {
  expect_kept_divergence(check::check_in_process(
      foreign_case("loses the device later", step::minimax_m3::WritePath::kInsertKvA)));
}

void expect_failure(const CheckOptions& options) {
  const RunReport report = check::run_check(options);
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kInconclusive) << report.cases[0].reason;
  EXPECT_TRUE(report.cases[0].failure.has_value());
  EXPECT_EQ(report.exit_code, 4);
}

TEST(Supervisor, CallsASoundStepThatLosesTheDeviceLaterAFailure) {
  expect_failure(foreign_case("loses the device later", step::minimax_m3::WritePath::kTwoStep));
}

TEST(Supervisor, CallsNoRoundingADivergenceWhereTheDeviceIsLostAfterTheComparison) {
  CheckOptions options =
      foreign_case("loses the device later", step::minimax_m3::WritePath::kTwoStep);
  options.cases[0].fault = "numeric-noise";
  options.cases[0].config.bucket = 4;
  options.cases[0].config.tokens = 3;
  expect_failure(options);
}

/// Is right or wrong as asked, and dies when it goes.
class LateStep final : public WrappedStep {
 public:
  using WrappedStep::WrappedStep;
  ~LateStep() override { static_cast<void>(std::raise(SIGKILL)); }
};

TEST(Supervisor, LosesNoReportToAStepThatDiesWhenItIsDestroyed) {
  CheckOptions options = options_for({wrong_case(), right_case()});
  options.factory = [](device::Device& device, const CaseRequest& request) {
    return std::make_unique<LateStep>(check::make_builtin_step(device, request));
  };
  const RunReport report = check::run_check(options);
  ASSERT_EQ(report.cases.size(), 2U);
  expect_elided_write(report.cases[0]);
  expect_agreed(report.cases[1]);
}

TEST(Supervisor, RefusesACaseThatItsFactoryRefuses) {
  CheckOptions options = options_for({right_case(), right_case("refused")});
  options.factory = [](device::Device& device, const CaseRequest& request) {
    if (request.title == "refused") throw ConfigError{"use --steps 2"};
    return check::make_builtin_step(device, request);
  };
  try {
    static_cast<void>(check::run_check(options));
    FAIL() << "a case that cannot be run was reported on";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "use --steps 2");
  }
}

TEST(Supervisor, JudgesEveryCaseBeforeItRunsOrRecordsAny) {
  const TempFolder folder;
  CheckOptions options = options_for({right_case(), right_case()});
  options.recording = folder / "run.graphsan";
  static_cast<void>(check::run_check(options));
  const std::string before = read_file(*options.recording);
  options.cases.back().config.context = 1 << 20;
  options.cases.back().config.layers = 60;
  options.cases.back().config.tp = 1;
  options.cases.back().config.tokens = 4096;
  options.cases.back().config.bucket = 4096;
  options.on_progress = [](const check::Progress& progress) {
    ADD_FAILURE() << "case " << progress.case_index << " was run";
  };
  EXPECT_THROW(static_cast<void>(check::run_check(options)), ConfigError);
  EXPECT_EQ(read_file(*options.recording), before);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"run.graphsan"});
}

TEST(Supervisor, RefusesAForeignFileBeforeItLooksForADevice) {
  const TempFolder folder;
  write_file(folder / "mine", "no recording");
  CheckOptions options = options_for({right_case()});
  options.device = check::DeviceChoice::kCuda;
  options.recording = folder / "mine";
  EXPECT_THROW(static_cast<void>(check::run_check(options)), record::RecordingError);
  EXPECT_EQ(read_file(folder / "mine"), "no recording");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"mine"});
}

TEST(Supervisor, ReportsAndRecordsTheCasesBeforeAnInterrupt) {
  const TempFolder folder;
  CheckOptions options = options_for({right_case(), wrong_case(), right_case(), right_case()});
  options.recording = folder / "run.graphsan";
  std::size_t done = 0;
  options.on_progress = [&](const check::Progress& progress) { done = progress.done; };
  options.interrupted = [&] { return done == 2; };
  const RunReport report = check::run_check(options);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.incomplete_reason, "interrupted after 2 of 4 cases");
  EXPECT_EQ(report.exit_code, model::kExitFailed);
  ASSERT_EQ(report.cases.size(), 2U);
  expect_agreed(report.cases[0]);
  expect_elided_write(report.cases[1]);
  const RunReport recorded = record::read_recording(*options.recording);
  EXPECT_FALSE(recorded.complete);
  EXPECT_EQ(recorded.incomplete_reason, report.incomplete_reason);
  ASSERT_EQ(recorded.cases.size(), 2U);
  expect_elided_write(recorded.cases[1]);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"run.graphsan"});
}

TEST(Supervisor, GivesUpAfterThreeWorkersThatCannotStart) {
  CheckOptions options = options_for({right_case()});
  options.admit = [](device::Device&, const CaseRequest&) { ::_exit(7); };
  try {
    static_cast<void>(check::run_check(options));
    FAIL() << "no worker was ever ready";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("phase set-up"));
    EXPECT_THAT(error.what(), HasSubstr("ended with status 7"));
  }
}

TEST(Supervisor, IsInconclusiveWithoutACase) {
  const RunReport report = check::run_check(options_for({}));
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(report.exit_code, model::kExitInconclusive);
}

}  // namespace
}  // namespace graphsan::test
