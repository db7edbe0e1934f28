#include "diagnose/step_experiments.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "diagnose/experiment_parts.hpp"
#include "run/consequences.hpp"

namespace graphsan::diagnose {

namespace {

/// Steps that replay a graph, or nothing to experiment on.
std::optional<NotRunnable> nothing_captured(const run::CaseRun& run) {
  const bool any = std::any_of(run.facts.steps.begin(), run.facts.steps.end(),
                               [](const model::StepFacts& step) { return step.covered; });
  if (any) return std::nullopt;
  return NotRunnable{"no step replays a graph"};
}

/// The output or selection rows of one layer in a log; null where there are none.
const run::OutputRows* outputs_of(const run::StepLog& log, SpotKind kind, int layer) {
  const model::CacheKind wanted =
      kind == SpotKind::kOutput ? model::CacheKind::kOutput : model::CacheKind::kTopK;
  for (const run::OutputRows& rows : log.outputs) {
    if (rows.layout.kind == wanted && rows.layout.layer == layer) return &rows;
  }
  return nullptr;
}

}  // namespace

StepExperiments::StepExperiments(run::ArmRunner& runner, run::CaseRun& run,
                                 const run::CaseOptions& options, model::Observer& observer,
                                 int case_index)
    : runner_{runner}, run_{run}, options_{options}, observer_{observer}, case_index_{case_index} {}

ExperimentResult StepExperiments::run(const Intervention& intervention,
                                      std::span<const RowKey> rows) {
  if (rows.empty()) return NotRunnable{"nothing to look at"};
  if (options_.carry) {
    return NotRunnable{
        "with --carry damage goes on from step to step, and an experiment looks at one step: run "
        "without it"};
  }
  if (auto reason = nothing_captured(run_)) return *reason;
  moved_.clear();
  ExperimentResult result = make(intervention, rows);
  const auto moved = static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const RowKey& row) { return moved_.contains(row); }));
  if (auto* outcome = std::get_if<Outcome>(&result); outcome != nullptr && moved != 0) {
    outcome->observations.push_back(
        std::to_string(moved) + " of the rows that count as right are now written where they " +
        "belong with bytes that still differ, as earlier damage explains");
  }
  return result;
}

ExperimentResult StepExperiments::make(const Intervention& intervention,
                                       std::span<const RowKey> rows) {
  switch (intervention.change) {
    case Change::kLiveCapture:
      return live_capture(rows);
    case Change::kFillBucket:
      return fill_bucket(rows);
    case Change::kPoisonPadLanes:
      return poison_pad_lanes(rows);
    case Change::kPadLanesDoNotMatter:
      return pad_lanes_do_not_matter(rows);
    case Change::kNeutralPadMetadata:
      return neutral_pads(intervention, rows);
    case Change::kSerialise:
      return serialise(rows);
    case Change::kPatchScalars:
    case Change::kPatchPointers:
    case Change::kReplaceCopySources:
      return patch(intervention, rows);
    case Change::kTryScalars:
      return try_scalars(intervention, rows);
    case Change::kRefreshInputs:
      return refresh_inputs(intervention, rows);
    case Change::kRestoreOpaque:
    case Change::kOpaqueFromEager:
      return set_opaque(intervention, rows);
    case Change::kRestoreAfterCapture:
      return restore_after_capture(rows);
    case Change::kKeepFreed:
      return keep_freed(rows);
    case Change::kPoisonFreed:
      return poison_blocks(rows, false);
    case Change::kPoisonGraphPool:
      return poison_blocks(rows, true);
    case Change::kOtherGraph:
      return other_graph(rows);
    case Change::kWaitForCopies:
      return wait_for_copies(rows);
    case Change::kRelaunchEscaped:
      return relaunch_escaped(rows);
    case Change::kDrawAgain:
      return draw_again(rows);
  }
  return NotRunnable{"no such change"};
}

run::ArmLog StepExperiments::replay(run::Capture& capture, const run::PassOptions& options) {
  return runner_.replay(capture, run_.eager, model::Phase::kExperiment, options);
}

StepExperiments::Wrong StepExperiments::wrong_in(const run::ArmLog& log, bool carried) {
  Wrong wrong;
  for (const model::RowDifference& row : run::differing(runner_, run_.eager, log)) {
    // A row that was missing or stray and is now written, with other bytes, follows from something
    // else.
    const RowKey key{row.step, row.cache, row.row};
    const bool moved = row.row_class == model::RowClass::kWrongValue && is_misplaced(key);
    (moved ? moved_ : wrong).insert(key);
  }
  const std::vector<model::StepFacts> steps = run::plans(runner_.step());
  for (const auto& output : run::compare_outputs(steps, run_.eager, log, carried)) {
    wrong.insert({output.step, output.layer, output.lane, SpotKind::kOutput});
  }
  const auto noise = static_cast<float>(run_.facts.stability.max_noise);
  for (const auto& top_k : run::compare_selections(steps, run_.eager, log, noise, carried)) {
    wrong.insert({top_k.step, top_k.layer, top_k.lane, SpotKind::kSelection});
  }
  return wrong;
}

StepExperiments::Wrong StepExperiments::replay_wrong(const run::PassOptions& options) {
  return wrong_in(replay(run_.capture, options));
}

bool StepExperiments::is_misplaced(const RowKey& key) {
  if (misplaced_.empty()) {
    for (const model::RowDifference& row : run_.facts.rows) {
      if (row.row_class != model::RowClass::kMissing && row.row_class != model::RowClass::kStray) {
        continue;
      }
      misplaced_.insert({row.step, row.cache, row.row});
    }
  }
  return misplaced_.contains(key);
}

std::vector<std::uint64_t> StepExperiments::digests(const run::ArmLog& log,
                                                    std::span<const RowKey> rows) {
  std::vector<std::uint64_t> digests;
  for (const RowKey& row : rows) {
    const run::StepLog& step = log.steps.at(static_cast<std::size_t>(row.step));
    if (row.kind == SpotKind::kRow) {
      const std::ptrdiff_t at = step.find(runner_.caches().global_row(row.cache, row.row));
      digests.push_back(at < 0 ? 0 : step.digests[static_cast<std::size_t>(at)].value);
      continue;
    }
    const run::OutputRows* outputs = outputs_of(step, row.kind, row.cache);
    digests.push_back(
        outputs == nullptr
            ? 0
            : kvcache::row_digest(outputs->lanes.at(static_cast<std::size_t>(row.row))).value);
  }
  return digests;
}

Outcome StepExperiments::with_hooks(std::span<const RowKey> rows, const Hook& change,
                                    const Hook& sham, const Hook& after) {
  Wrong changed;
  run::PassOptions options;
  options.after_run = after;
  options.before_run = change;
  for (int i = 0; i < kRepeats; ++i) changed.merge(replay_wrong(options));
  options.before_run = sham;
  return make_outcome(rows, changed, replay_wrong(options));
}

Outcome StepExperiments::with_poison(std::span<const RowKey> rows, run::Capture& capture,
                                     const std::function<void(int, int)>& poison, int patterns) {
  const auto pass = [&](int pattern) {
    run::PassOptions options;
    options.before_run = [&, pattern](int step) { poison(step, pattern); };
    return digests(replay(capture, options), rows);
  };
  const std::vector<std::uint64_t> first = pass(0);
  const std::vector<std::uint64_t> again = pass(0);
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = 1;
  std::vector<bool> moved(rows.size(), false);
  for (int pattern = 1; pattern < patterns; ++pattern) {
    const std::vector<std::uint64_t> other = pass(pattern);
    for (std::size_t i = 0; i < rows.size(); ++i) moved[i] = moved[i] || first[i] != other[i];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    outcome.hit_with_change += moved[i] ? 1 : 0;
    outcome.hit_in_sham += first[i] != again[i] ? 1 : 0;
  }
  return outcome;
}

/// The padded batch run eagerly leaves the same bytes there: what differs from eager is padding's
/// doing, and not the capture's.
bool StepExperiments::is_paddings(const model::RowDifference& row) const {
  if (!run_.padded_eager || row.row_class != model::RowClass::kWrongValue) return false;
  const run::StepLog& padded = run_.padded_eager->steps.at(static_cast<std::size_t>(row.step));
  const std::ptrdiff_t at = padded.find(runner_.caches().global_row(row.cache, row.row));
  return at >= 0 && padded.digests[static_cast<std::size_t>(at)] == row.graph;
}

const run::ArmLog& StepExperiments::reference_arm() const {
  return run_.padded_eager ? *run_.padded_eager : run_.eager;
}

void StepExperiments::upload(void* to, std::span<const std::byte> bytes) {
  runner_.device().copy(runner_.stream(), to, bytes.data(), bytes.size());
  runner_.device().synchronize(runner_.stream());
}

std::vector<std::byte> StepExperiments::download(const void* from, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  runner_.device().copy(runner_.stream(), out.data(), from, bytes);
  runner_.device().synchronize(runner_.stream());
  return out;
}

}  // namespace graphsan::diagnose
