#include "check/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace graphsan::test {
namespace {

using model::CaseReport;
using model::Verdict;
using testing::HasSubstr;
using testing::Not;

constexpr check::ProofNeeds kNeeds{.selects_blocks = true, .block_size = 128, .top_k = 16};

model::StepFacts proven_step(int step) {
  model::StepFacts facts;
  facts.step = step;
  facts.covered = true;
  facts.input_digest = 100 + static_cast<std::uint64_t>(step);
  facts.replayed_nodes = 9;
  facts.nonce_overwritten = true;
  return facts;
}

/// A case that has every proof and no difference.
CaseReport proven() {
  CaseReport report;
  report.config.context = 4096;
  report.facts.steps = {proven_step(0), proven_step(1)};
  report.facts.replays = 2;
  report.facts.rows_compared = 1000;
  report.facts.stability.ran = true;
  report.facts.stability.stable = true;
  return report;
}

CaseReport judged(CaseReport report, const check::ProofNeeds& needs = kNeeds) {
  check::judge(report, needs);
  return report;
}

void expect_lack(const CaseReport& report, const std::string& reason,
                 const check::ProofNeeds& needs = kNeeds) {
  const CaseReport result = judged(report, needs);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.reason, HasSubstr(reason));
}

model::RowDifference row(model::RowClass row_class) {
  model::RowDifference difference;
  difference.row_class = row_class;
  return difference;
}

TEST(Judge, SaysThatTheGraphIsNotToBlameWhereEagerItselfLeavesTheSlotMapping) {
  CaseReport report = proven();
  report.facts.rows = {row(model::RowClass::kEagerMissing)};
  EXPECT_THAT(judged(report).reason, HasSubstr("the graph is not to blame"));
  EXPECT_EQ(judged(report).verdict, Verdict::kDiverged);

  model::WriteSets sets;
  sets.graph = {7};
  report.facts.writes = {sets};
  EXPECT_THAT(judged(report).reason, HasSubstr("eager and graph differ"));

  // The graph writes what the slot mapping names.
  report.facts.writes.front().expected = {7};
  EXPECT_THAT(judged(report).reason, HasSubstr("and the graph writes them"));
  model::OutputDifference output;
  report.facts.rows.front().lane = 0;
  report.facts.outputs = {output};
  EXPECT_THAT(judged(report).reason, HasSubstr("and the graph writes them"));
  report.facts.outputs.front().lane = 1;  // no row of that lane differs
  EXPECT_THAT(judged(report).reason, HasSubstr("eager and graph differ"));
}

TEST(Judge, AgreesWhenEveryProofIsThere) {
  const CaseReport result = judged(proven());
  EXPECT_EQ(result.verdict, Verdict::kAgreed);
  EXPECT_EQ(result.reason, "");
}

TEST(Judge, NeverAgreesWhenNothingWasRun) { expect_lack(CaseReport{}, "no step was replayed"); }

TEST(Judge, IsInconclusiveWithoutAReplay) {
  CaseReport report = proven();
  report.facts.replays = 0;
  expect_lack(report, "Choose another --mode");
}

TEST(Judge, IsInconclusiveAfterOneReplay) {
  CaseReport report = proven();
  report.facts.replays = 1;
  report.facts.steps.pop_back();
  expect_lack(report, "Use --steps 2 or more");
}

TEST(Judge, IsInconclusiveWhenNoRowWasCompared) {
  CaseReport report = proven();
  report.facts.rows_compared = 0;
  expect_lack(report, "no row was compared");
}

TEST(Judge, IsInconclusiveWhenAReplayedGraphHasNoNodes) {
  CaseReport report = proven();
  report.facts.steps[1].replayed_nodes = 0;
  expect_lack(report, "the graph of step 1 has no nodes");
}

TEST(Judge, IsInconclusiveWhenAnOutputKeptItsNonce) {
  CaseReport report = proven();
  report.facts.steps[1].nonce_overwritten = false;
  expect_lack(report, "an output of step 1 still holds the nonce");
}

TEST(Judge, IsInconclusiveWhenAllReplaysHadTheSameInputs) {
  CaseReport report = proven();
  report.facts.steps[1].input_digest = report.facts.steps[0].input_digest;
  expect_lack(report, "the inputs were the same");
}

TEST(Judge, AsksNoProofOfAStepThatTheModeRunsEagerly) {
  CaseReport report = proven();
  report.facts.steps.emplace_back().covered = false;
  EXPECT_EQ(judged(report).verdict, Verdict::kAgreed);
}

TEST(Judge, IsInconclusiveWhenTheContextHasNoMoreBlocksThanAreSelected) {
  CaseReport report = proven();
  report.config.context = 16 * 128;
  expect_lack(report, "Use --context 4096");
  report.config.context = 16 * 128 + 1;
  EXPECT_EQ(judged(report).verdict, Verdict::kAgreed);
}

TEST(Judge, AsksForInputsWhereNoneAreDeclared) {
  CaseReport report = proven();
  for (model::StepFacts& step : report.facts.steps) step.input_digest = 0;
  expect_lack(report, "declares no inputs");
}

TEST(Judge, TakesTheContextOfAForeignStepFromItsPositions) {
  check::ProofNeeds needs = kNeeds;
  needs.foreign = true;
  CaseReport report = proven();
  report.config.context = 0;
  EXPECT_EQ(judged(report, needs).verdict, Verdict::kAgreed);
  model::Lane lane;
  lane.real = true;
  lane.position = 16 * 128 - 1;
  report.facts.steps[1].lanes = {lane};
  expect_lack(report, "the context of 2048 tokens", needs);
  expect_lack(report, "a position of 2048 or more", needs);
  report.facts.steps[1].lanes[0].position = 16 * 128;
  EXPECT_EQ(judged(report, needs).verdict, Verdict::kAgreed);
}

TEST(Judge, NamesNoOptionOfTheCommandLineToAForeignStep) {
  check::ProofNeeds needs = kNeeds;
  needs.foreign = true;
  CaseReport report = proven();
  for (const std::uint64_t replays : {0U, 1U}) {
    report.facts.replays = replays;
    EXPECT_THAT(judged(report, needs).reason, Not(HasSubstr("--")));
  }
}

TEST(Judge, AsksForNoContextOfAStepThatSelectsNothing) {
  CaseReport report = proven();
  report.config.context = 64;
  EXPECT_EQ(judged(report, {}).verdict, Verdict::kAgreed);
}

TEST(Judge, DivergesWhereRowsDiffer) {
  CaseReport report = proven();
  report.facts.rows = {row(model::RowClass::kWrongValue)};
  report.findings.emplace_back().mechanism = "frozen-scalar";
  const CaseReport result = judged(report);
  EXPECT_EQ(result.verdict, Verdict::kDiverged);
  EXPECT_EQ(result.reason, "");
}

TEST(Judge, DivergesWhereDifferencesWereCountedButNotListed) {
  CaseReport report = proven();
  report.facts.rows_dropped = 1;
  EXPECT_EQ(judged(report).verdict, Verdict::kDiverged);
}

TEST(Judge, DivergesWhereOnlyAnOutputDiffers) {
  CaseReport report = proven();
  report.facts.outputs.emplace_back();
  EXPECT_EQ(judged(report).verdict, Verdict::kDiverged);
}

TEST(Judge, DivergesWhereTheSelectionDiffersButNotForATie) {
  CaseReport report = proven();
  report.facts.top_k.emplace_back().kind = model::TopKKind::kTie;
  EXPECT_EQ(judged(report).verdict, Verdict::kAgreed);
  report.facts.top_k.emplace_back().kind = model::TopKKind::kMismatch;
  EXPECT_EQ(judged(report).verdict, Verdict::kDiverged);
}

TEST(Judge, SaysThatTheCauseIsUnknownWhenNoFindingExplainsADifference) {
  CaseReport report = proven();
  report.facts.rows = {row(model::RowClass::kMissing)};
  EXPECT_THAT(judged(report).reason, HasSubstr("no mechanism that is known"));
}

TEST(Judge, DivergesEvenWhereAProofOfAgreementLacks) {
  CaseReport report = proven();
  report.facts.replays = 1;
  report.facts.rows = {row(model::RowClass::kMissing)};
  EXPECT_EQ(judged(report).verdict, Verdict::kDiverged);
}

TEST(Judge, IsAHazardWhenAFindingStandsAndAllAgrees) {
  CaseReport report = proven();
  report.findings.emplace_back().mechanism = "missing-dependency";
  const CaseReport result = judged(report);
  EXPECT_EQ(result.verdict, Verdict::kHazard);
  EXPECT_NE(result.reason, "");
}

TEST(Judge, BlamesNoValueOnTheGraphWhenEagerIsUnstable) {
  CaseReport report = proven();
  report.facts.stability.stable = false;
  report.facts.stability.rows_differing = 7;
  expect_lack(report, "differ in 7 rows");
  report.facts.rows = {row(model::RowClass::kWrongValue)};
  expect_lack(report, "eager does not agree with itself");
}

TEST(Judge, BlamesMissingAndStrayRowsEvenWhenEagerIsUnstable) {
  for (const model::RowClass row_class : {model::RowClass::kMissing, model::RowClass::kStray}) {
    CaseReport report = proven();
    report.facts.stability.stable = false;
    report.facts.rows = {row(model::RowClass::kWrongValue), row(row_class)};
    EXPECT_EQ(judged(report).verdict, Verdict::kDiverged);
  }
}

}  // namespace
}  // namespace graphsan::test
