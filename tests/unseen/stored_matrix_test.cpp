#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/check_options.hpp"
#include "device/host/host_device.hpp"
#include "diagnose/diagnosis.hpp"
#include "diagnose/step_experiments.hpp"
#include "diagnose/trace_facts.hpp"
#include "probes/fault_registry.hpp"
#include "probes/registry.hpp"
#include "record/recording.hpp"
#include "run/case_run.hpp"
#include "step/minimax_m3/minimax_m3_step.hpp"
#include "tests/support/check_scene.hpp"

namespace graphsan::test {
namespace {

using ::testing::ElementsAre;

/// One question to the experiments, and what they said.
struct Answer {
  diagnose::Intervention intervention;
  std::vector<diagnose::RowKey> rows;
  diagnose::ExperimentResult result;

  [[nodiscard]] bool is_about(const diagnose::Intervention& other,
                              std::span<const diagnose::RowKey> other_rows) const {
    return intervention.change == other.change && intervention.names == other.names &&
           intervention.nodes == other.nodes && std::ranges::equal(rows, other_rows);
  }
};

/// Passes every question on and keeps the answer.
class RecordingExperiments final : public diagnose::Experiments {
 public:
  explicit RecordingExperiments(diagnose::Experiments& real) : real_{&real} {}
  [[nodiscard]] diagnose::ExperimentResult run(const diagnose::Intervention& intervention,
                                               std::span<const diagnose::RowKey> rows) override {
    diagnose::ExperimentResult result = real_->run(intervention, rows);
    answers_.push_back({intervention, {rows.begin(), rows.end()}, result});
    return result;
  }
  [[nodiscard]] std::vector<Answer> take() { return std::move(answers_); }

 private:
  diagnose::Experiments* real_;
  std::vector<Answer> answers_;
};

/// Gives recorded answers. What nobody asked then cannot be run.
class ReplayedExperiments final : public diagnose::Experiments {
 public:
  explicit ReplayedExperiments(const std::vector<Answer>& answers) : answers_{&answers} {}
  [[nodiscard]] diagnose::ExperimentResult run(const diagnose::Intervention& intervention,
                                               std::span<const diagnose::RowKey> rows) override {
    const auto found = std::ranges::find_if(
        *answers_, [&](const Answer& answer) { return answer.is_about(intervention, rows); });
    if (found == answers_->end()) return diagnose::NotRunnable{"not recorded"};
    return found->result;
  }

 private:
  const std::vector<Answer>* answers_;
};

/// A planted fault of which nothing is left but what was written down.
struct StoredCase {
  std::string planted;
  model::Facts facts;
  std::vector<Answer> answers;
};

/// A probe of another registry.
class BorrowedProbe final : public diagnose::Probe {
 public:
  explicit BorrowedProbe(const diagnose::Probe& probe) : probe_{&probe} {}
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(
      const model::Facts& facts) const override {
    return probe_->recognise(facts);
  }
  [[nodiscard]] std::optional<std::string> rule_out(const model::Facts& facts) const override {
    return probe_->rule_out(facts);
  }

 private:
  const diagnose::Probe* probe_;
};

/// The probes of `all`, in its order, but for `removed`.
diagnose::ProbeRegistry registry_without(const diagnose::ProbeRegistry& all,
                                         const std::string& removed) {
  diagnose::ProbeRegistry rest;
  for (const std::string& id : all.ids()) {
    if (id != removed) rest.add(*all.text(id), std::make_unique<BorrowedProbe>(*all.find(id)));
  }
  return rest;
}

/// Runs the fault's own case on a host device, diagnoses it, and keeps facts and answers.
StoredCase store(const faults::PlantedFault& fault) {
  CLI::App app;
  cli::CheckWords words;
  cli::add_case_options(app, words);
  app.parse(fault.options);
  const step::minimax_m3::Config config = cli::make_cases(words).at(0).config;
  const std::unique_ptr<device::Device> device = device::make_host_device({});
  step::minimax_m3::MinimaxM3Step step{*device, config, fault.program};
  PhaseList phases;
  run::ArmRunner runner{step, *device, phases, 0};
  run::CaseOptions options;
  options.carry = words.carry;
  options.capture_over_history = config.capture_at == step::minimax_m3::CaptureAt::kLive;
  run::CaseRun run = run::run_case(runner, options);
  diagnose::add_trace_facts(runner, run);
  diagnose::StepExperiments experiments{runner, run, options, phases, 0};
  RecordingExperiments recorded{experiments};
  const diagnose::ProbeRegistry all = probes::builtin_probes();
  static_cast<void>(diagnose::diagnose(run.facts, all, &recorded));
  // What the other recognisers ask once the fault's own is taken away.
  static_cast<void>(diagnose::diagnose(run.facts, registry_without(all, fault.id), &recorded));
  return {fault.id, record::facts_from_json(record::to_json(run.facts)), recorded.take()};
}

/// The first variant of every mechanism.
std::vector<StoredCase> stored_cases() {
  std::vector<StoredCase> cases;
  for (const faults::PlantedFault& fault : faults::planted_faults()) {
    if (cases.empty() || cases.back().planted != fault.id) cases.push_back(store(fault));
  }
  return cases;
}

/// What one row of the matrix says of its case.
struct FoundInCase {
  std::vector<std::string> found;      ///< one entry a finding
  std::vector<std::string> confirmed;  ///< those of them that an experiment or the facts settled
};

FoundInCase find_in(const StoredCase& stored, const diagnose::ProbeRegistry& registry) {
  ReplayedExperiments experiments{stored.answers};
  FoundInCase row;
  for (const model::Finding& finding :
       diagnose::diagnose(stored.facts, registry, &experiments).findings) {
    row.found.push_back(finding.mechanism);
    if (finding.status == model::FindingStatus::kConfirmed) {
      row.confirmed.push_back(finding.mechanism);
    }
  }
  return row;
}

/// Mechanisms that another recogniser confirms where their own is missing: a seed is a scalar too,
/// a replaced workspace was freed, a graph of another kind took another branch, and pad lanes whose
/// metadata is garbage write rows.
const std::map<std::string, std::string> kSecondNames{{"frozen-rng", "frozen-scalar"},
                                                      {"replaced-workspace", "freed-memory"},
                                                      {"wrong-graph", "branch-at-capture"},
                                                      {"padding-metadata", "padding-write"}};

/// What is found of a planted mechanism without its own recogniser.
std::vector<std::string> found_instead(const std::string& planted) {
  const auto second = kSecondNames.find(planted);
  if (second == kSecondNames.end()) return {};
  return {second->second};
}

TEST(StoredMatrix, IsDiagonalAndLosesTheRowOfARecogniserThatIsTakenAwayAndNoOther) {
  const std::vector<StoredCase> cases = stored_cases();
  const diagnose::ProbeRegistry all = probes::builtin_probes();
  ASSERT_EQ(cases.size(), all.ids().size());
  for (const StoredCase& stored : cases) {
    SCOPED_TRACE("planted " + stored.planted);
    const FoundInCase row = find_in(stored, all);
    EXPECT_THAT(row.found, ElementsAre(stored.planted));
    EXPECT_THAT(row.confirmed, ElementsAre(stored.planted));
  }
  for (const std::string& removed : all.ids()) {
    const diagnose::ProbeRegistry rest = registry_without(all, removed);
    ASSERT_EQ(rest.ids().size() + 1, all.ids().size());
    for (const StoredCase& stored : cases) {
      SCOPED_TRACE("planted " + stored.planted + ", without the recogniser of " + removed);
      const FoundInCase row = find_in(stored, rest);
      if (stored.planted == removed) {
        EXPECT_EQ(row.found, found_instead(removed));
      } else {
        EXPECT_THAT(row.found, ElementsAre(stored.planted));
        EXPECT_THAT(row.confirmed, ElementsAre(stored.planted));
      }
    }
  }
}

}  // namespace
}  // namespace graphsan::test
