#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "tests/unseen/check_program.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test {
namespace {

using step::minimax_m3::Config;
using step::minimax_m3::OpContext;

/// Real rows grow by 0.4 %, less than two units in the last place of bf16, where a pad lane holds
/// anything at all.
struct LeakALittle {
  static constexpr const char* kName = "leak_a_little";
  second::Rows rows;
  const std::int64_t* slots;

  static second::Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(LeakALittle), GRAPHSAN_ARGUMENT_FIELD(LeakALittle, slots)};
    return kFields;
  }
  void run() const {
    float leaked = 0;
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      if (slots[lane] < 0) leaked = std::max(leaked, std::abs(rows.get(lane, 0)));
    }
    const float factor = 1.0F + 0.004F * std::min(1.0F, 1000.0F * leaked);
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width && slots[lane] >= 0; ++i) {
        rows.set(lane, i, rows.get(lane, i) * factor);
      }
    }
  }
};

class LeakingStep final : public second::TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void insert(const OpContext& context) override {
    if (context.layer == 0 && context.pool != nullptr) {
      launch_on(context, LeakALittle{second::rows_of(faults::value_slice(context), context.tokens),
                                     context.lanes.slots});
    }
    TwoStepProgram::insert(context);
  }
};

TEST(SmallLeak, IsNoNoiseThoughItIsAsSmall) {
  const model::CaseReport report =
      check_program("--kv-dtype bf16 --write-path two-step --mode full",
                    [](const Config& config) { return std::make_unique<LeakingStep>(config); });
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].mechanism, "padding-leak");
  EXPECT_EQ(report.findings[0].status, model::FindingStatus::kConfirmed);
}

}  // namespace
}  // namespace graphsan::test
