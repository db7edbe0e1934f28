#include <gtest/gtest.h>

#include <vector>

#include "model/run_report.hpp"

namespace graphsan::model {
namespace {

using enum Verdict;

RunReport report_of(const std::vector<Verdict>& verdicts) {
  RunReport report;
  for (const Verdict verdict : verdicts) report.cases.emplace_back().verdict = verdict;
  return report;
}

TEST(Combine, TakesTheMostTellingVerdictInAnyOrder) {
  EXPECT_EQ(combine(std::vector{kAgreed, kInconclusive, kHazard, kDiverged}), kDiverged);
  EXPECT_EQ(combine(std::vector{kHazard, kInconclusive, kAgreed}), kHazard);
  EXPECT_EQ(combine(std::vector{kAgreed, kInconclusive}), kInconclusive);
  EXPECT_EQ(combine(std::vector{kAgreed, kAgreed}), kAgreed);
}

TEST(Combine, IsInconclusiveWithoutACase) {
  EXPECT_EQ(combine(std::vector<Verdict>{}), kInconclusive);
}

TEST(ExitCode, FollowsTheVerdict) {
  EXPECT_EQ(exit_code(kAgreed), 0);
  EXPECT_EQ(exit_code(kDiverged), 1);
  EXPECT_EQ(exit_code(kHazard), 1);
  EXPECT_EQ(exit_code(kInconclusive), 3);
}

TEST(Conclude, TakesVerdictAndExitCodeFromTheCases) {
  RunReport report = report_of({kAgreed, kHazard});
  conclude(report);
  EXPECT_EQ(report.verdict, kHazard);
  EXPECT_EQ(report.exit_code, kExitDiverged);
}

TEST(Conclude, NeverAgreesWithoutACase) {
  RunReport report = report_of({});
  conclude(report);
  EXPECT_EQ(report.verdict, kInconclusive);
  EXPECT_EQ(report.exit_code, kExitInconclusive);
}

TEST(Conclude, NeverAgreesWhenTheRunIsIncomplete) {
  RunReport report = report_of({kAgreed});
  report.complete = false;
  conclude(report);
  EXPECT_EQ(report.verdict, kInconclusive);
  EXPECT_EQ(report.exit_code, kExitFailed);
}

TEST(Conclude, NeverAgreesWhenACaseFailedAndExitsWithFailure) {
  RunReport report = report_of({kAgreed, kAgreed});
  report.cases[1].failure = Failure{"replay", 1, "the worker died", ""};
  conclude(report);
  EXPECT_EQ(report.verdict, kInconclusive);
  EXPECT_EQ(report.exit_code, kExitFailed);
}

TEST(Conclude, KeepsDivergedBesideAFailureButExitsWithFailure) {
  RunReport report = report_of({kDiverged, kInconclusive});
  report.cases[1].failure = Failure{"capture", -1, "the worker died", ""};
  conclude(report);
  EXPECT_EQ(report.verdict, kDiverged);
  EXPECT_EQ(report.exit_code, kExitFailed);
}

TEST(CaseConfig, IsPaddedWhenTheBucketHasMoreLanesThanTokens) {
  CaseConfig config;
  config.tokens = 3;
  config.bucket = 4;
  EXPECT_TRUE(config.padded());
  config.tokens = 4;
  EXPECT_FALSE(config.padded());
}

}  // namespace
}  // namespace graphsan::model
