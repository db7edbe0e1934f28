#include "diagnose/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "device/error.hpp"
#include "tests/support/facts_scene.hpp"
#include "tests/support/fake_experiments.hpp"

namespace graphsan::diagnose {
namespace {

using model::FindingStatus;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Suspects its mechanism where told to, at a step, and confirms it with live metadata.
class FakeProbe final : public Probe {
 public:
  FakeProbe(std::string id, std::optional<int> first_step)
      : id_{std::move(id)}, first_step_{first_step} {}
  [[nodiscard]] std::optional<Suspicion> recognise(const model::Facts&) const override {
    if (!first_step_) return std::nullopt;
    Suspicion suspicion;
    suspicion.finding.mechanism = id_;
    suspicion.finding.first_step = *first_step_;
    suspicion.rows = {{*first_step_, 0, 8}};
    return suspicion;
  }
  [[nodiscard]] ExperimentResult confirm(const Suspicion& suspicion,
                                         Experiments& experiments) const override {
    return experiments.capture_with_live_metadata(suspicion.rows);
  }
  [[nodiscard]] std::string experiment_name() const override { return "the change"; }
  [[nodiscard]] std::string sham_name() const override { return "the sham"; }
  [[nodiscard]] std::optional<std::string> rule_out(const model::Facts&) const override {
    if (id_ == "asks-an-experiment") return std::nullopt;
    return id_ + " was looked for";
  }
  [[nodiscard]] std::optional<std::string> rule_out(const model::Facts&,
                                                    Experiments&) const override {
    return id_ + " was tried";
  }

 private:
  std::string id_;
  std::optional<int> first_step_;
};

ProbeRegistry registry_of(std::initializer_list<std::pair<const char*, std::optional<int>>> list) {
  ProbeRegistry registry;
  for (const auto& [id, first_step] : list) {
    registry.add({id, id, ""}, std::make_unique<FakeProbe>(id, first_step));
  }
  return registry;
}

model::Facts diverging_facts() {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 0, test::kKey0);
  return facts;
}

const model::RuledOut* ruled_out(const Diagnosis& diagnosis, const std::string& id) {
  const auto found = std::find_if(diagnosis.ruled_out.begin(), diagnosis.ruled_out.end(),
                                  [&](const model::RuledOut& out) { return out.mechanism == id; });
  return found == diagnosis.ruled_out.end() ? nullptr : &*found;
}

Diagnosis diagnose_one(ExperimentResult result) {
  test::FakeExperiments experiments;
  experiments.answer("live-metadata", std::move(result));
  return diagnose(diverging_facts(), registry_of({{"suspect", 0}}), &experiments);
}

TEST(Diagnose, ConfirmsWhenTheChangeHelpsEveryRowAndTheShamNone) {
  Outcome outcome = test::outcome_of(3, 3, 0);
  outcome.observations = {"the slots were read"};
  const Diagnosis diagnosis = diagnose_one(outcome);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  const model::Finding& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.status, FindingStatus::kConfirmed);
  EXPECT_EQ(finding.experiment, "the change: 3 of 3 rows right, 2 repeats");
  EXPECT_EQ(finding.sham, "the sham: 0 of 3 rows right");
  EXPECT_EQ(finding.not_runnable, "");
  EXPECT_THAT(finding.evidence, Contains("the slots were read"));
  ASSERT_FALSE(diagnosis.experiments.empty());
  EXPECT_EQ(diagnosis.experiments[0].name, "the change");
  EXPECT_TRUE(diagnosis.experiments[0].made_right);
  EXPECT_EQ(diagnosis.experiments[0].repeats, 2);
}

TEST(Diagnose, OnlySuspectsWhenTheShamHelpsToo) {
  const Diagnosis diagnosis = diagnose_one(test::outcome_of(3, 3, 1));
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("did not confirm it"));
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("the sham: 1 of 3 rows right"));
  EXPECT_EQ(diagnosis.findings[0].experiment, "");
  EXPECT_FALSE(diagnosis.experiments[0].made_right);
}

TEST(Diagnose, OnlySuspectsWhenTheChangeHelpsSomeRows) {
  EXPECT_EQ(diagnose_one(test::outcome_of(3, 2, 0)).findings.at(0).status,
            FindingStatus::kSuspected);
}

TEST(Diagnose, OnlySuspectsWhenNothingWasLookedAt) {
  EXPECT_EQ(diagnose_one(test::outcome_of(0, 0, 0)).findings.at(0).status,
            FindingStatus::kSuspected);
  EXPECT_EQ(diagnose_one(test::outcome_of(3, 3, 0, 0)).findings.at(0).status,
            FindingStatus::kSuspected);
}

TEST(Diagnose, SaysWhyAnExperimentCouldNotBeRun) {
  const Diagnosis diagnosis = diagnose_one(NotRunnable{"no step replays a graph"});
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_EQ(diagnosis.findings[0].not_runnable, "the change: no step replays a graph");
  EXPECT_EQ(diagnosis.experiments.at(0).not_runnable, "no step replays a graph");
}

TEST(Diagnose, OnlySuspectsInStoredFactsAndSaysSo) {
  const Diagnosis diagnosis = diagnose(diverging_facts(), registry_of({{"suspect", 0}}), nullptr);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("stored facts"));
  EXPECT_TRUE(diagnosis.experiments.empty());
}

TEST(Diagnose, ADeviceErrorCostsTheConfirmationOnly) {
  test::FakeExperiments experiments;
  experiments.answer_by("live-metadata", []() -> ExperimentResult {
    throw device::DeviceError{device::ErrorKind::kCaptureRefused, "the capture was refused"};
  });
  const Diagnosis diagnosis =
      diagnose(diverging_facts(), registry_of({{"suspect", 0}, {"quiet", {}}}), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, FindingStatus::kSuspected);
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("the capture was refused"));
  EXPECT_NE(ruled_out(diagnosis, "quiet"), nullptr);
}

TEST(Diagnose, ALostDeviceEndsTheDiagnosis) {
  test::FakeExperiments experiments;
  experiments.answer_by("live-metadata", []() -> ExperimentResult {
    throw device::DeviceError{device::ErrorKind::kSticky, "an illegal address"};
  });
  try {
    static_cast<void>(diagnose(diverging_facts(), registry_of({{"suspect", 0}}), &experiments));
    FAIL() << "the lost device was swallowed";
  } catch (const device::DeviceError& error) {
    EXPECT_EQ(error.kind(), device::ErrorKind::kSticky);
  }
}

TEST(Diagnose, OrdersFindingsByWhatBrokeFirst) {
  const Diagnosis diagnosis = diagnose(
      diverging_facts(), registry_of({{"late", 2}, {"early", 0}, {"also-early", 0}}), nullptr);
  ASSERT_EQ(diagnosis.findings.size(), 3U);
  EXPECT_EQ(diagnosis.findings[0].mechanism, "early");
  EXPECT_EQ(diagnosis.findings[1].mechanism, "also-early");
  EXPECT_EQ(diagnosis.findings[2].mechanism, "late");
}

TEST(Diagnose, RulesOutTheMechanismsThatSuspectedNothing) {
  test::FakeExperiments experiments;
  const Diagnosis diagnosis = diagnose(
      diverging_facts(), registry_of({{"suspect", 0}, {"quiet", {}}, {"asks-an-experiment", {}}}),
      &experiments);
  ASSERT_NE(ruled_out(diagnosis, "quiet"), nullptr);
  EXPECT_EQ(ruled_out(diagnosis, "quiet")->why, "quiet was looked for");
  ASSERT_NE(ruled_out(diagnosis, "asks-an-experiment"), nullptr);
  EXPECT_EQ(ruled_out(diagnosis, "asks-an-experiment")->why, "asks-an-experiment was tried");
  EXPECT_EQ(ruled_out(diagnosis, "suspect"), nullptr);
}

TEST(Diagnose, RunsNoExperimentWhereNothingDiffers) {
  test::FakeExperiments experiments;
  const Diagnosis diagnosis =
      diagnose(test::facts_scene(), registry_of({{"quiet", {}}}), &experiments);
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.ruled_out.empty());
  EXPECT_FALSE(experiments.asked("serialise"));
}

}  // namespace
}  // namespace graphsan::diagnose
