#include "diagnose/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "device/error.hpp"
#include "tests/support/facts_scene.hpp"
#include "tests/support/fake_experiments.hpp"
#include "tests/support/fake_probe.hpp"

namespace graphsan::diagnose {
namespace {

using model::FindingStatus;
using test::registry_of;
using test::suspicion;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

model::Facts diverging_facts() {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 0, test::kKey0);
  return facts;
}

/// Why a mechanism was ruled out, of each entry that names it.
std::vector<std::string> ruled_out(const Diagnosis& diagnosis, const std::string& id) {
  std::vector<std::string> why;
  for (const model::RuledOut& out : diagnosis.ruled_out) {
    if (out.mechanism == id) why.push_back(out.why);
  }
  return why;
}

Diagnosis diagnose_one(const Suspicion& suspicion, ExperimentResult result) {
  test::FakeExperiments experiments;
  experiments.answer(Change::kLiveCapture, std::move(result));
  return diagnose(diverging_facts(), registry_of({{"suspect", {suspicion}}}), &experiments);
}

Suspicion not_refutable() {
  Suspicion hazard = suspicion("suspect", 0);
  hazard.refutable = false;
  return hazard;
}

TEST(Diagnose, ConfirmsWhenTheChangeHelpsEveryRowAndTheShamNone) {
  Outcome outcome = test::outcome_of(3, 3, 0);
  outcome.observations = {"the slots were read"};
  const Diagnosis diagnosis = diagnose_one(suspicion("suspect", 0), outcome);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  const model::Finding& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.status, FindingStatus::kConfirmed);
  EXPECT_EQ(finding.experiment, "captured again with live metadata: 3 of 3 right, 2 repeats");
  EXPECT_EQ(finding.sham, "captured again as before: 0 of 3 right");
  EXPECT_EQ(finding.not_runnable, "");
  EXPECT_THAT(finding.evidence, Contains("the slots were read"));
  ASSERT_FALSE(diagnosis.experiments.empty());
  EXPECT_EQ(diagnosis.experiments[0].name, "captured again with live metadata");
  EXPECT_TRUE(diagnosis.experiments[0].made_right);
  EXPECT_EQ(diagnosis.experiments[0].repeats, 2);
  EXPECT_TRUE(ruled_out(diagnosis, "suspect").empty());
}

TEST(Diagnose, ListsWhatNoFindingClaimsBesideWhatOneDoes) {
  model::Facts facts = diverging_facts();
  test::lose_rows(facts, 1, test::kValue0);
  test::FakeExperiments experiments;
  experiments.answer(Change::kLiveCapture, test::outcome_of(3, 3, 0));
  const auto registry = registry_of({{"suspect", {suspicion("suspect", 0, {8, 16, 24})}}});
  const Diagnosis diagnosis = diagnose(facts, registry, &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_THAT(diagnosis.unexplained, ::testing::Not(::testing::IsEmpty()));
  EXPECT_THAT(diagnosis.unexplained,
              ::testing::Each(::testing::Field(&RowKey::cache, test::kValue0)));
  EXPECT_TRUE(diagnose(diverging_facts(), registry, &experiments).unexplained.empty());
}

TEST(Diagnose, SaysWhatAnExperimentWasAppliedTo) {
  Suspicion stale = suspicion("suspect", 0);
  stale.confirm[0].names = {"slot mapping", "positions"};
  const Diagnosis diagnosis = diagnose_one(stale, test::outcome_of(3, 3, 0, 1));
  EXPECT_EQ(diagnosis.findings.at(0).experiment,
            "captured again with live metadata (slot mapping, positions): 3 of 3 right, 1 repeat");
  EXPECT_EQ(diagnosis.experiments.at(0).name, "captured again with live metadata");
}

TEST(Diagnose, CountsWhatChangesWhereThatIsTheEffect) {
  test::FakeExperiments experiments;
  experiments.answer(Change::kPoisonFreed, test::outcome_of(2, 2, 0));
  const Diagnosis diagnosis =
      diagnose(diverging_facts(),
               registry_of({{"suspect", {suspicion("suspect", 0, {8}, {Change::kPoisonFreed})}}}),
               &experiments);
  EXPECT_EQ(diagnosis.findings.at(0).experiment,
            "other bytes in freed blocks: 2 of 2 changed, 2 repeats");
}

TEST(Diagnose, ASuspicionThatItsExperimentRefutesIsRuledOut) {
  for (const Outcome& outcome : {test::outcome_of(3, 3, 3), test::outcome_of(3, 2, 0)}) {
    const Diagnosis diagnosis = diagnose_one(suspicion("suspect", 0), outcome);
    EXPECT_TRUE(diagnosis.findings.empty());
    const std::vector<std::string> why = ruled_out(diagnosis, "suspect");
    ASSERT_EQ(why.size(), 1U);
    EXPECT_EQ(why[0],
              "captured again with live metadata: " + std::to_string(outcome.hit_with_change) +
                  " of 3 right, 2 repeats; captured again as before: " +
                  std::to_string(outcome.hit_in_sham) + " of 3 right");
    ASSERT_FALSE(diagnosis.experiments.empty());
    EXPECT_FALSE(diagnosis.experiments[0].made_right);
  }
}

TEST(Diagnose, AChangeThatHitsAllAndMoreThanItsShamRefutesNothing) {
  const Diagnosis diagnosis = diagnose_one(suspicion("suspect", 0), test::outcome_of(3, 3, 1));
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(
      diagnosis.findings[0].not_runnable,
      AllOf(HasSubstr("3 of 3 right"), HasSubstr("captured again as before: 1 of 3 right")));
  EXPECT_TRUE(ruled_out(diagnosis, "suspect").empty());
}

TEST(Diagnose, WhatOnlySupportsASuspicionNeitherConfirmsNorExplains) {
  Outcome moves = test::outcome_of(3, 3, 0);
  moves.supports_only = true;
  const Diagnosis supported = diagnose_one(suspicion("suspect", 0), moves);
  ASSERT_EQ(supported.findings.size(), 1U);
  EXPECT_EQ(supported.findings[0].status, FindingStatus::kSuspected);
  EXPECT_EQ(supported.findings[0].experiment, "");
  EXPECT_THAT(supported.findings[0].not_runnable, HasSubstr("earlier damage"));
  for (const auto& [hit, in_sham] : {std::pair{0, 0}, std::pair{2, 1}}) {
    Outcome nothing = test::outcome_of(3, hit, in_sham);
    nothing.supports_only = true;
    EXPECT_EQ(ruled_out(diagnose_one(suspicion("suspect", 0), nothing), "suspect").size(), 1U);
  }
}

TEST(Diagnose, ASuspicionThatNoExperimentCanRefuteStays) {
  const Diagnosis diagnosis = diagnose_one(not_refutable(), test::outcome_of(3, 3, 1));
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(
      diagnosis.findings[0].not_runnable,
      AllOf(HasSubstr("did not confirm it"), HasSubstr("captured again as before: 1 of 3 right")));
  EXPECT_EQ(diagnosis.findings[0].experiment, "");
  EXPECT_TRUE(ruled_out(diagnosis, "suspect").empty());
}

TEST(Diagnose, ConfirmsNothingWhenNothingWasLookedAt) {
  for (const Outcome& outcome : {test::outcome_of(0, 0, 0), test::outcome_of(3, 3, 0, 0)}) {
    const Diagnosis diagnosis = diagnose_one(not_refutable(), outcome);
    EXPECT_EQ(diagnosis.findings.at(0).status, FindingStatus::kSuspected);
  }
}

TEST(Diagnose, SaysWhyAnExperimentCouldNotBeRun) {
  const Diagnosis diagnosis =
      diagnose_one(suspicion("suspect", 0), NotRunnable{"no step replays a graph"});
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_EQ(diagnosis.findings[0].not_runnable,
            "captured again with live metadata: no step replays a graph");
  EXPECT_EQ(diagnosis.experiments.at(0).not_runnable, "no step replays a graph");
  EXPECT_TRUE(ruled_out(diagnosis, "suspect").empty());
}

TEST(Diagnose, OnlySuspectsInStoredFactsAndSaysSo) {
  Suspicion claimed = suspicion("suspect", 0);
  claimed.finding.status = FindingStatus::kConfirmed;
  const Diagnosis diagnosis =
      diagnose(diverging_facts(), registry_of({{"suspect", {claimed}}}), nullptr);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("stored facts"));
  EXPECT_TRUE(diagnosis.experiments.empty());
}

TEST(Diagnose, ADeviceErrorCostsTheConfirmationOnly) {
  test::FakeExperiments experiments;
  experiments.answer_by(Change::kLiveCapture, []() -> ExperimentResult {
    throw device::DeviceError{device::ErrorKind::kCaptureRefused, "the capture was refused"};
  });
  const Diagnosis diagnosis =
      diagnose(diverging_facts(),
               registry_of({{"suspect", {suspicion("suspect", 0)}}, {"quiet", {}}}), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("the capture was refused"));
  EXPECT_FALSE(ruled_out(diagnosis, "quiet").empty());
}

TEST(Diagnose, ALostDeviceEndsTheDiagnosis) {
  test::FakeExperiments experiments;
  experiments.answer_by(Change::kLiveCapture, []() -> ExperimentResult {
    throw device::DeviceError{device::ErrorKind::kSticky, "an illegal address"};
  });
  try {
    static_cast<void>(diagnose(
        diverging_facts(), registry_of({{"suspect", {suspicion("suspect", 0)}}}), &experiments));
    FAIL() << "the lost device was swallowed";
  } catch (const device::DeviceError& error) {
    EXPECT_EQ(error.kind(), device::ErrorKind::kSticky);
  }
}

TEST(Diagnose, OrdersFindingsByWhatBrokeFirst) {
  const Diagnosis diagnosis = diagnose(diverging_facts(),
                                       registry_of({{"late", {suspicion("late", 2)}},
                                                    {"early", {suspicion("early", 0)}},
                                                    {"also-early", {suspicion("also-early", 0)}}}),
                                       nullptr);
  ASSERT_EQ(diagnosis.findings.size(), 3U);
  EXPECT_EQ(diagnosis.findings[0].mechanism, "early");
  EXPECT_EQ(diagnosis.findings[1].mechanism, "also-early");
  EXPECT_EQ(diagnosis.findings[2].mechanism, "late");
}

TEST(Diagnose, RulesOutTheMechanismsThatSuspectedNothing) {
  test::FakeExperiments experiments;
  const Diagnosis diagnosis =
      diagnose(diverging_facts(),
               registry_of({{"suspect", {suspicion("suspect", 0)}}, {"quiet", {}}}), &experiments);
  EXPECT_THAT(ruled_out(diagnosis, "quiet"), ::testing::ElementsAre("quiet was looked for"));
  EXPECT_TRUE(ruled_out(diagnosis, "suspect").empty());
}

TEST(Diagnose, DoesNotRuleOutWhatItFindsNorAnythingTwice) {
  // The usual suspects clear numeric-noise of missing rows.
  test::FakeExperiments experiments;
  experiments.answer(Change::kSerialise, test::outcome_of(3, 0, 0));
  const model::Facts facts = diverging_facts();
  const auto clears = [&](const ProbeRegistry& registry, const char* id) {
    return ruled_out(diagnose(facts, registry, &experiments), id).size();
  };
  const Suspicion refuted = suspicion("missing-dependency", 0, {8}, {Change::kSerialise});
  EXPECT_EQ(clears(ProbeRegistry{}, "numeric-noise"), 1U);
  EXPECT_EQ(clears(registry_of({{"numeric-noise", {}}}), "numeric-noise"), 1U);
  EXPECT_EQ(
      clears(registry_of({{"numeric-noise", {suspicion("numeric-noise", 0)}}}), "numeric-noise"),
      0U);
  EXPECT_EQ(clears(registry_of({{"missing-dependency", {refuted}}}), "missing-dependency"), 1U);
}

TEST(Diagnose, RunsNoExperimentWhereNothingDiffers) {
  test::FakeExperiments experiments;
  const Diagnosis diagnosis =
      diagnose(test::facts_scene(), registry_of({{"quiet", {}}}), &experiments);
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.ruled_out.empty());
  EXPECT_TRUE(experiments.questions().empty());
}

}  // namespace
}  // namespace graphsan::diagnose
