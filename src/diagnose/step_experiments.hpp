#pragma once

#include <memory>
#include <set>
#include <vector>

#include "diagnose/experiments.hpp"
#include "run/arm_runner.hpp"
#include "run/case_run.hpp"

namespace graphsan::diagnose {

/// Experiments on the step of a case that has run: each makes its own capture or exec and replays
/// all steps from the same state, resynced to the case's eager log.
class StepExperiments final : public Experiments {
 public:
  StepExperiments(run::ArmRunner& runner, run::CaseRun& run, const run::CaseOptions& options,
                  model::Observer& observer, int case_index);

  [[nodiscard]] ExperimentResult run(const Intervention& intervention,
                                     std::span<const RowKey> rows) override;

 private:
  [[nodiscard]] ExperimentResult live_capture(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult fill_bucket(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult poison_pad_lanes(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult serialise(std::span<const RowKey> rows);
  [[nodiscard]] bool is_paddings(const model::RowDifference& row) const;
  [[nodiscard]] std::set<RowKey> replay_capture(const step::CaptureRequest& request, int repeats);
  [[nodiscard]] std::set<RowKey> run_reshaped(int tokens);
  [[nodiscard]] std::vector<std::uint64_t> digests_with_poison(std::span<const RowKey> rows,
                                                               std::uint64_t seed);

  run::ArmRunner& runner_;
  run::CaseRun& run_;
  run::CaseOptions options_;
  model::Observer& observer_;
  int case_index_;
};

}  // namespace graphsan::diagnose
