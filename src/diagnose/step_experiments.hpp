#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/experiments.hpp"
#include "diagnose/patched_execs.hpp"
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
  [[nodiscard]] std::optional<Writer> writer_of(const RowKey& row) override;

 private:
  using Wrong = std::set<RowKey>;
  using Hook = std::function<void(int step)>;

  // Passes.
  [[nodiscard]] run::ArmLog replay(run::Capture& capture, const run::PassOptions& options);
  [[nodiscard]] Wrong wrong_in(const run::ArmLog& log, bool carried = false);
  [[nodiscard]] Wrong replay_wrong(const run::PassOptions& options);
  [[nodiscard]] std::vector<std::uint64_t> digests(const run::ArmLog& log,
                                                   std::span<const RowKey> rows);
  /// Runs the change kRepeats times and the sham once, both as hooks before each replay.
  /// `after` is called when the work of a step has been issued.
  [[nodiscard]] Outcome with_hooks(std::span<const RowKey> rows, const Hook& change,
                                   const Hook& sham, const Hook& after = nullptr);
  /// Counts rows that move when `poison` puts the bytes of patterns 1 and up somewhere instead of
  /// pattern 0's, and when pattern 0's again.
  [[nodiscard]] Outcome with_poison(std::span<const RowKey> rows, run::Capture& capture,
                                    const std::function<void(int step, int pattern)>& poison,
                                    int patterns);
  [[nodiscard]] bool is_misplaced(const RowKey& key);
  [[nodiscard]] bool is_paddings(const model::RowDifference& row) const;

  // One a change.
  [[nodiscard]] ExperimentResult make(const Intervention& intervention,
                                      std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult live_capture(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult fill_bucket(std::span<const RowKey> rows);
  /// Which of the rows are wrong, each by the part that it plays, with that many real lanes.
  [[nodiscard]] Wrong wrong_with(int tokens, std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult poison_pad_lanes(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult pad_lanes_do_not_matter(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult neutral_pads(const Intervention& intervention,
                                              std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult serialise(std::span<const RowKey> rows);
  [[nodiscard]] bool is_segment(const step::Segment& segment, int number);
  [[nodiscard]] std::vector<device::EdgeInfo> edges_for(const step::Segment& segment,
                                                        device::GraphRef clone,
                                                        const model::UnorderedPair* reversed);
  [[nodiscard]] ExperimentResult patch(const Intervention& intervention,
                                       std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult try_scalars(const Intervention& intervention,
                                             std::span<const RowKey> rows);
  /// A replay of all steps with the execs' nodes patched, or set to what they are.
  [[nodiscard]] run::ArmLog replay_patched(PatchedExecs& execs, bool sham);
  /// Who else owns an address that the capture knew as an input's; empty where it may be written.
  [[nodiscard]] std::string foreign_owner(std::uint64_t captured);
  [[nodiscard]] ExperimentResult refresh_inputs(const Intervention& intervention,
                                                std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult set_opaque(const Intervention& intervention,
                                            std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult restore_after_capture(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult keep_freed(std::span<const RowKey> rows);
  using KeptBlocks = std::vector<std::pair<void*, std::vector<std::byte>>>;
  /// What the blocks hold that `is_meant` chooses.
  [[nodiscard]] KeptBlocks keep_blocks(
      const std::function<bool(const step::ScratchView&)>& is_meant);
  [[nodiscard]] ExperimentResult poison_blocks(std::span<const RowKey> rows, bool graph_pool);
  [[nodiscard]] ExperimentResult other_graph(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult wait_for_copies(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult relaunch_escaped(std::span<const RowKey> rows);
  [[nodiscard]] ExperimentResult draw_again(std::span<const RowKey> rows);

  [[nodiscard]] const run::ArmLog& reference_arm() const;
  void upload(void* to, std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<std::byte> download(const void* from, std::size_t bytes);

  run::ArmRunner& runner_;
  run::CaseRun& run_;
  run::CaseOptions options_;
  model::Observer& observer_;
  int case_index_;
  Wrong moved_;      ///< rows counted as right since the last change began, with other bytes
  Wrong misplaced_;  ///< rows that are missing or stray in the case's own replay
};

}  // namespace graphsan::diagnose
