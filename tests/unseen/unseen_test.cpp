#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>

#include "cli/check_options.hpp"
#include "tests/support/check_scene.hpp"
#include "tests/unseen/unseen_faults.hpp"

namespace graphsan::test {
namespace {

/// The one case that a fault's options describe.
check::CaseRequest request_of(const UnseenFault& fault) {
  CLI::App app;
  cli::CheckWords words;
  cli::add_case_options(app, words);
  app.parse(fault.options);
  return cli::make_cases(words).at(0);
}

/// What the tool said, for whoever has to find out why it named something else.
std::string said(const model::CaseReport& report) {
  std::string text =
      fmt::format("verdict {} ({})\n", model::to_string(report.verdict), report.reason);
  if (report.failure) text += fmt::format("failure: {}\n", report.failure->what);
  for (const model::Finding& finding : report.findings) {
    text += fmt::format("finding: {} {}: {}\n", finding.mechanism, model::to_string(finding.status),
                        finding.summary);
    for (const std::string& evidence : finding.evidence) text += "  " + evidence + "\n";
    text += fmt::format("  experiment: {}\n  not runnable: {}\n", finding.experiment,
                        finding.not_runnable);
  }
  for (const model::RuledOut& ruled : report.ruled_out) {
    text += fmt::format("ruled out: {}: {}\n", ruled.mechanism, ruled.why);
  }
  for (const model::ExperimentRecord& record : report.experiments) {
    text += fmt::format("tried: {} [{}] -> {}; sham: {} {}\n", record.name, record.change,
                        record.outcome, record.sham_outcome, record.not_runnable);
  }
  return text;
}

model::CaseReport check_fault(const UnseenFault& fault) {
  const check::StepFactory factory = [&](device::Device& device,
                                         const check::CaseRequest& request) {
    return std::make_unique<step::minimax_m3::MinimaxM3Step>(device, request.config, fault.program);
  };
  return check_on_host(request_of(fault), factory).report;
}

/// Whether the padded batch run eagerly goes wrong in the same way anywhere.
bool padded_eager_shows_it(const model::Facts& facts) {
  const auto shows = [](const auto& difference) { return difference.padded_eager_shows_it; };
  return std::any_of(facts.rows.begin(), facts.rows.end(), shows) ||
         std::any_of(facts.top_k.begin(), facts.top_k.end(), shows) ||
         std::any_of(facts.outputs.begin(), facts.outputs.end(), shows);
}

class Unseen : public ::testing::TestWithParam<UnseenFault> {};

TEST_P(Unseen, IsNamedAloneAndConfirmed) {
  const model::CaseReport report = check_fault(GetParam());
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged) << said(report);
  EXPECT_TRUE(report.facts.stability.stable);
  EXPECT_EQ(padded_eager_shows_it(report.facts), GetParam().mechanism.starts_with("padding-"));
  ASSERT_EQ(report.findings.size(), 1U) << said(report);
  EXPECT_EQ(report.findings[0].mechanism, GetParam().mechanism) << said(report);
  EXPECT_EQ(report.findings[0].status, model::FindingStatus::kConfirmed) << said(report);
}

std::string title_of(const ::testing::TestParamInfo<UnseenFault>& info) {
  std::string title = info.param.mechanism + "_" + info.param.name;
  std::replace(title.begin(), title.end(), '-', '_');
  return title;
}

INSTANTIATE_TEST_SUITE_P(First, Unseen, ::testing::ValuesIn(unseen_faults_first()), title_of);

}  // namespace
}  // namespace graphsan::test
