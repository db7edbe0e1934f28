#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/reports.hpp"
#include "tests/support/sample_report.hpp"

namespace graphsan::reports {
namespace {

model::CaseReport case_with(model::Verdict verdict, std::vector<std::string> mechanisms) {
  model::CaseReport report = test::agreed_case(0, "fused", "full");
  report.verdict = verdict;
  for (std::string& mechanism : mechanisms) {
    report.findings.emplace_back().mechanism = std::move(mechanism);
  }
  return report;
}

std::string line_of(std::vector<model::CaseReport> cases, bool complete = true) {
  model::RunReport report;
  report.environment.device = "host";
  report.cases = std::move(cases);
  report.complete = complete;
  model::conclude(report);
  return summary_line(report);
}

using enum model::Verdict;

TEST(SummaryLine, CountsCasesAndMechanisms) {
  EXPECT_EQ(
      line_of({case_with(kDiverged, {"elided-write", "elided-write"}),
               case_with(kDiverged, {"elided-write", "padding-write"}), case_with(kAgreed, {})}),
      "SUMMARY: graphsan: diverged: 2 of 3 cases; elided-write ×2, padding-write "
      "(host device)");
  EXPECT_EQ(line_of({case_with(kAgreed, {})}),
            "SUMMARY: graphsan: agreed: 1 of 1 case (host device)");
  EXPECT_EQ(line_of({case_with(kHazard, {"missing-dependency"}), case_with(kAgreed, {})}),
            "SUMMARY: graphsan: hazard: 1 of 2 cases; missing-dependency (host device)");
}

TEST(SummaryLine, SaysThatACauseIsUnknown) {
  EXPECT_EQ(line_of({case_with(kDiverged, {})}),
            "SUMMARY: graphsan: diverged: 1 of 1 case; cause unknown (host device)");
}

TEST(SummaryLine, SaysWhyThereIsNoAnswer) {
  model::CaseReport item = case_with(kInconclusive, {});
  item.reason = "no row was compared";
  EXPECT_EQ(line_of({item, case_with(kAgreed, {})}),
            "SUMMARY: graphsan: inconclusive: 1 of 2 cases; no row was compared (host device)");
  EXPECT_EQ(line_of({}), "SUMMARY: graphsan: inconclusive: no case was run (host device)");
}

TEST(SummaryLine, NamesFailuresAndIncompleteRuns) {
  model::CaseReport failed = case_with(kInconclusive, {});
  failed.failure = model::Failure{"replay", 1, "the worker died", ""};
  EXPECT_EQ(line_of({case_with(kDiverged, {"elided-write"}), failed, case_with(kInconclusive, {})},
                    false),
            "SUMMARY: graphsan: diverged: 1 of 3 cases, 1 inconclusive, 1 failed, run incomplete; "
            "elided-write (host device)");
}

TEST(SummaryLine, IsOneLineAndNamesTheGpu) {
  model::RunReport report;
  report.environment.device = "cuda";
  report.environment.device_name = "NVIDIA\nH200";
  report.cases = {case_with(kAgreed, {})};
  model::conclude(report);
  EXPECT_EQ(summary_line(report),
            "SUMMARY: graphsan: agreed: 1 of 1 case (cuda device, NVIDIA H200)");
}

}  // namespace
}  // namespace graphsan::reports
