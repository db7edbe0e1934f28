// How diagnose() settles suspicions among each other: shared rows, several interventions, none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagnose/diagnosis.hpp"
#include "tests/support/facts_scene.hpp"
#include "tests/support/fake_experiments.hpp"
#include "tests/support/fake_probe.hpp"

namespace graphsan::diagnose {
namespace {

using model::FindingStatus;
using test::registry_of;
using test::suspicion;
using ::testing::ElementsAre;

constexpr auto kFirst = Change::kLiveCapture;
constexpr auto kSecond = Change::kRefreshInputs;

model::Facts diverging_facts() {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 0, test::kKey0);
  return facts;
}

Diagnosis run(const ProbeRegistry& registry, Experiments* experiments) {
  return diagnose(diverging_facts(), registry, experiments);
}

std::vector<std::string> mechanisms(const Diagnosis& diagnosis) {
  std::vector<std::string> ids;
  for (const model::Finding& finding : diagnosis.findings) ids.push_back(finding.mechanism);
  return ids;
}

bool is_ruled_out(const Diagnosis& diagnosis, const std::string& id) {
  return std::any_of(diagnosis.ruled_out.begin(), diagnosis.ruled_out.end(),
                     [&](const model::RuledOut& out) { return out.mechanism == id; });
}

/// `kFirst` confirms, `kSecond` gives `second`.
test::FakeExperiments experiments_with(ExperimentResult second) {
  test::FakeExperiments experiments;
  experiments.answer(kFirst, test::outcome_of(1, 1, 0)).answer(kSecond, std::move(second));
  return experiments;
}

TEST(ExplainedRows, AreNotOfferedToLaterProbes) {
  test::FakeExperiments experiments = experiments_with(test::outcome_of(1, 1, 0));
  const Diagnosis diagnosis =
      run(registry_of({{"first", {suspicion("first", 0, {8, 16}, {kFirst})}},
                       {"second", {suspicion("second", 0, {8, 16, 24}, {kSecond})}}}),
          &experiments);
  EXPECT_EQ(experiments.rows(kFirst), (std::vector<RowKey>{{0, 0, 8}, {0, 0, 16}}));
  EXPECT_EQ(experiments.rows(kSecond), (std::vector<RowKey>{{0, 0, 24}}));
  EXPECT_THAT(mechanisms(diagnosis), ElementsAre("first", "second"));
}

TEST(ExplainedRows, DropASuspicionThatHasNoOther) {
  test::FakeExperiments experiments = experiments_with(test::outcome_of(1, 1, 0));
  const Diagnosis diagnosis =
      run(registry_of({{"first", {suspicion("first", 0, {8, 16}, {kFirst})}},
                       {"second", {suspicion("second", 0, {16}, {kSecond})}}}),
          &experiments);
  EXPECT_THAT(mechanisms(diagnosis), ElementsAre("first"));
  EXPECT_FALSE(experiments.asked(kSecond));
  // It suspected nothing that is left, so the facts may still clear it.
  EXPECT_TRUE(is_ruled_out(diagnosis, "second"));
}

TEST(ExplainedRows, AreOnlyThoseOfAConfirmedFinding) {
  test::FakeExperiments experiments;
  experiments.answer(kFirst, NotRunnable{"the graph allocates"})
      .answer(kSecond, test::outcome_of(1, 1, 0));
  const Diagnosis diagnosis =
      run(registry_of({{"first", {suspicion("first", 0, {8}, {kFirst})}},
                       {"second", {suspicion("second", 0, {8}, {kSecond})}}}),
          &experiments);
  EXPECT_EQ(experiments.rows(kSecond), (std::vector<RowKey>{{0, 0, 8}}));
  EXPECT_THAT(mechanisms(diagnosis), ElementsAre("first", "second"));
}

TEST(ExplainedRows, AreNotThoseOfARefutedSuspicion) {
  test::FakeExperiments experiments;
  experiments.answer(kFirst, test::outcome_of(1, 0, 0)).answer(kSecond, test::outcome_of(1, 1, 0));
  const Diagnosis diagnosis =
      run(registry_of({{"first", {suspicion("first", 0, {8}, {kFirst})}},
                       {"second", {suspicion("second", 0, {8}, {kSecond})}}}),
          &experiments);
  EXPECT_TRUE(is_ruled_out(diagnosis, "first"));
  EXPECT_THAT(mechanisms(diagnosis), ElementsAre("second"));
}

TEST(ExplainedRows, OfAnotherKindOrStepAreOthers) {
  Suspicion output = suspicion("second", 0, {8}, {kSecond});
  output.rows[0].kind = SpotKind::kOutput;
  output.rows.push_back({1, 0, 8});
  test::FakeExperiments experiments = experiments_with(test::outcome_of(2, 2, 0));
  static_cast<void>(
      run(registry_of({{"first", {suspicion("first", 0, {8}, {kFirst})}}, {"second", {output}}}),
          &experiments));
  EXPECT_EQ(experiments.rows(kSecond), output.rows);
}

TEST(ExplainedRows, AHazardWithoutRowsIsAlwaysOffered) {
  test::FakeExperiments experiments = experiments_with(NotRunnable{"nothing to look at"});
  const Diagnosis diagnosis =
      run(registry_of({{"first", {suspicion("first", 0, {8}, {kFirst})}},
                       {"hazard", {suspicion("hazard", 0, {}, {kSecond})}}}),
          &experiments);
  EXPECT_THAT(mechanisms(diagnosis), ElementsAre("first", "hazard"));
}

TEST(ExplainedRows, AProbesOwnLaterSuspicionsLoseThemToo) {
  test::FakeExperiments experiments = experiments_with(test::outcome_of(1, 1, 0));
  const Diagnosis diagnosis = run(
      registry_of({{"twice",
                    {suspicion("twice", 0, {8}, {kFirst}), suspicion("twice", 0, {8}, {kSecond}),
                     suspicion("twice", 0, {24}, {kSecond})}}}),
      &experiments);
  EXPECT_EQ(diagnosis.findings.size(), 2U);
  EXPECT_EQ(experiments.questions().size(), 2U);
  EXPECT_EQ(experiments.rows(kSecond), (std::vector<RowKey>{{0, 0, 24}}));
}

TEST(SeveralInterventions, AllMustConfirm) {
  test::FakeExperiments experiments = experiments_with(test::outcome_of(1, 1, 0, 3));
  const Diagnosis diagnosis =
      run(registry_of({{"both", {suspicion("both", 0, {8}, {kFirst, kSecond})}}}), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kConfirmed);
  EXPECT_EQ(diagnosis.findings[0].experiment,
            "captured again with live metadata: 1 of 1 right, 2 repeats; live contents put at the "
            "captured address: 1 of 1 right, 3 repeats");
  EXPECT_EQ(diagnosis.findings[0].sham,
            "captured again as before: 0 of 1 right; contents put back as they were: 0 of 1 right");
}

TEST(SeveralInterventions, OneThatDoesNotConfirmRefutes) {
  test::FakeExperiments experiments = experiments_with(test::outcome_of(1, 1, 1));
  const Diagnosis diagnosis =
      run(registry_of({{"both", {suspicion("both", 0, {8}, {kFirst, kSecond})}}}), &experiments);
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(is_ruled_out(diagnosis, "both"));
}

TEST(SeveralInterventions, OneThatCannotBeRunLeavesASuspicion) {
  test::FakeExperiments experiments = experiments_with(NotRunnable{"no input of that name"});
  const Diagnosis diagnosis =
      run(registry_of({{"both", {suspicion("both", 0, {8}, {kFirst, kSecond})}}}), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_EQ(diagnosis.findings[0].experiment, "");
  EXPECT_EQ(diagnosis.findings[0].not_runnable,
            "live contents put at the captured address: no input of that name");
  EXPECT_FALSE(is_ruled_out(diagnosis, "both"));
}

TEST(SeveralInterventions, NoneIsRunAfterOneThatDidNotConfirm) {
  for (const ExperimentResult& result :
       {ExperimentResult{test::outcome_of(1, 0, 0)}, ExperimentResult{NotRunnable{"refused"}}}) {
    test::FakeExperiments experiments;
    experiments.answer(kFirst, result).answer(kSecond, test::outcome_of(1, 1, 0));
    static_cast<void>(
        run(registry_of({{"both", {suspicion("both", 0, {8}, {kFirst, kSecond})}}}), &experiments));
    EXPECT_TRUE(experiments.asked(kFirst));
    EXPECT_FALSE(experiments.asked(kSecond));
  }
}

TEST(NoIntervention, TheRecognisersOwnStatusStands) {
  for (const FindingStatus status : {FindingStatus::kConfirmed, FindingStatus::kSuspected}) {
    Suspicion told = suspicion("told", 0, {8}, {});
    told.finding.status = status;
    told.finding.experiment = "the control: two eager passes differ";
    test::FakeExperiments experiments;
    for (Experiments* given : {static_cast<Experiments*>(&experiments), {}}) {
      const Diagnosis diagnosis = run(registry_of({{"told", {told}}}), given);
      ASSERT_EQ(diagnosis.findings.size(), 1U);
      EXPECT_EQ(diagnosis.findings[0].status, status);
      EXPECT_EQ(diagnosis.findings[0].experiment, "the control: two eager passes differ");
      EXPECT_EQ(diagnosis.findings[0].not_runnable, "");
    }
    EXPECT_FALSE(experiments.asked(kFirst));
  }
}

TEST(NoIntervention, WhatItConfirmsIsExplained) {
  Suspicion told = suspicion("told", 0, {8}, {});
  told.finding.status = FindingStatus::kConfirmed;
  test::FakeExperiments experiments = experiments_with(test::outcome_of(1, 1, 0));
  const Diagnosis diagnosis =
      run(registry_of({{"told", {told}}, {"second", {suspicion("second", 0, {8}, {kSecond})}}}),
          &experiments);
  EXPECT_THAT(mechanisms(diagnosis), ElementsAre("told"));
  EXPECT_FALSE(experiments.asked(kSecond));
}

}  // namespace
}  // namespace graphsan::diagnose
