#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "check/run_check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/support/test_kernels.hpp"
#include "tests/support/wrapped_step.hpp"

namespace graphsan::test {
namespace {

using check::CaseRequest;
using check::CheckOptions;
using model::CaseReport;
using model::RunReport;
using model::Verdict;
using step::minimax_m3::Mode;
using step::minimax_m3::WritePath;
using testing::HasSubstr;

/// A test that forks workers. A process that has initialised CUDA cannot: so unlike GpuTest, this
/// one asks for a device in a child and never in itself.
class ForkingGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(device::cuda_availability().available ? 0 : 1);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (std::getenv("GRAPHSAN_REQUIRE_GPU") != nullptr) {
      FAIL() << "GRAPHSAN_REQUIRE_GPU is set, no device found";
    }
    GTEST_SKIP() << "no CUDA device";
  }

  [[nodiscard]] static CheckOptions options_for(std::vector<CaseRequest> cases) {
    CheckOptions options;
    options.cases = std::move(cases);
    options.device = check::DeviceChoice::kCuda;
    options.error_budgets = false;
    return options;
  }
};

class CheckOnGpu : public ForkingGpuTest {};

/// In the case titled so, its second step writes to an address that nobody owns.
class IllegalAccessStep final : public WrappedStep {
 public:
  IllegalAccessStep(std::unique_ptr<step::Step> inner, device::Device& device)
      : WrappedStep{std::move(inner)}, device_{&device} {}

  void run(int step, step::Arm arm, device::StreamRef stream) override {
    if (step == 1 && arm == step::Arm::kEager) {
      const StoreWordArgs args{reinterpret_cast<std::uint64_t*>(std::uintptr_t{8}), 1};
      device_->launch(stream, store_word_kernel(), {}, &args);
      device_->synchronize(stream);
    }
    WrappedStep::run(step, arm, stream);
  }

 private:
  device::Device* device_;
};

std::unique_ptr<step::Step> make_step(device::Device& device, const CaseRequest& request) {
  std::unique_ptr<step::Step> step = check::make_builtin_step(device, request);
  if (request.title != "illegal access") return step;
  return std::make_unique<IllegalAccessStep>(std::move(step), device);
}

CaseRequest fp8_case(const std::string& title, WritePath path) {
  CaseRequest request;
  request.config.kv_dtype = model::DType::kFp8E5M2;
  request.config.write_path = path;
  request.title = title;
  return request;
}

TEST_F(CheckOnGpu, LosesOnlyTheCaseWhoseKernelBreaksTheContext) {
  CheckOptions options =
      options_for({fp8_case("", WritePath::kTwoStep), fp8_case("illegal access", WritePath::kFused),
                   fp8_case("", WritePath::kInsertKvA), fp8_case("", WritePath::kTwoStep)});
  options.factory = make_step;
  const RunReport report = check::run_check(options);
  EXPECT_EQ(report.environment.device, "cuda");
  ASSERT_EQ(report.cases.size(), 4U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kAgreed) << report.cases[0].reason;

  const CaseReport& lost = report.cases[1];
  ASSERT_TRUE(lost.failure.has_value());
  EXPECT_EQ(lost.failure->phase, "control");
  EXPECT_EQ(lost.failure->step, 1);
  EXPECT_THAT(lost.failure->what, HasSubstr("cudaErrorIllegalAddress"));
  EXPECT_EQ(lost.verdict, Verdict::kInconclusive);

  EXPECT_FALSE(report.cases[2].failure.has_value());
  EXPECT_EQ(report.cases[2].verdict, Verdict::kDiverged);
  ASSERT_EQ(report.cases[2].findings.size(), 1U);
  EXPECT_EQ(report.cases[2].findings.front().mechanism, "elided-write");
  EXPECT_EQ(report.cases[3].verdict, Verdict::kAgreed) << report.cases[3].reason;
  EXPECT_EQ(report.exit_code, model::kExitFailed);
}

/// What the seed saw for a decode batch: insert-kv loses all rows under a piecewise capture with
/// body A, and writes pad lanes to the last row otherwise; every other path is right.
std::set<std::string> expected_mechanisms(const CaseRequest& request) {
  const auto& config = request.config;
  const bool body_a = config.write_path == WritePath::kInsertKvA;
  const bool insert = body_a || config.write_path == WritePath::kInsertKvB;
  if (!insert || config.kv_dtype == model::DType::kBf16) return {};
  if (body_a && config.mode == Mode::kPiecewise) return {"elided-write"};
  if (config.bucket > config.tokens) return {"padding-write"};
  return {};
}

TEST_F(CheckOnGpu, FindsTheMechanismsOfTheSeedsMatrix) {
  std::vector<CaseRequest> cases;
  for (CaseRequest& request : check::seed_scenario()) {
    if (request.config.batch == step::minimax_m3::Batch::kDecode) {
      cases.push_back(std::move(request));
    }
  }
  ASSERT_EQ(cases.size(), 36U);
  const RunReport report = check::run_check(options_for(cases));
  EXPECT_EQ(report.environment.device, "cuda");
  ASSERT_EQ(report.cases.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CaseReport& one = report.cases[i];
    SCOPED_TRACE(one.reproduce);
    const std::set<std::string> expected = expected_mechanisms(cases[i]);
    std::set<std::string> found;
    for (const model::Finding& finding : one.findings) {
      found.insert(finding.mechanism);
      EXPECT_EQ(finding.status, model::FindingStatus::kConfirmed) << finding.not_runnable;
    }
    EXPECT_FALSE(one.failure.has_value());
    EXPECT_EQ(found, expected);
    EXPECT_EQ(one.verdict, expected.empty() ? Verdict::kAgreed : Verdict::kDiverged) << one.reason;
  }
  EXPECT_EQ(report.exit_code, model::kExitDiverged);
}

}  // namespace
}  // namespace graphsan::test
