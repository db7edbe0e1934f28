#include "diagnose/step_experiments.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kvcache/row_pack.hpp"
#include "trace/graph_walk.hpp"

namespace graphsan::diagnose {

namespace {

constexpr int kRepeats = 2;

std::set<RowKey> keys_of(const std::vector<model::RowDifference>& rows) {
  std::set<RowKey> keys;
  for (const model::RowDifference& row : rows) keys.insert({row.step, row.cache, row.row});
  return keys;
}

std::uint64_t count_right(std::span<const RowKey> rows, const std::set<RowKey>& differing) {
  return static_cast<std::uint64_t>(std::count_if(
      rows.begin(), rows.end(), [&](const RowKey& row) { return !differing.contains(row); }));
}

Outcome make_outcome(std::span<const RowKey> rows, const std::set<RowKey>& changed,
                     const std::set<RowKey>& sham) {
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.hit_with_change = count_right(rows, changed);
  outcome.hit_in_sham = count_right(rows, sham);
  outcome.repeats = kRepeats;
  return outcome;
}

/// Steps that replay a graph, or nothing to experiment on.
std::optional<NotRunnable> nothing_captured(const run::CaseRun& run) {
  const bool any = std::any_of(run.facts.steps.begin(), run.facts.steps.end(),
                               [](const model::StepFacts& step) { return step.covered; });
  if (any) return std::nullopt;
  return NotRunnable{"no step replays a graph"};
}

}  // namespace

StepExperiments::StepExperiments(run::ArmRunner& runner, run::CaseRun& run,
                                 const run::CaseOptions& options, model::Observer& observer,
                                 int case_index)
    : runner_{runner}, run_{run}, options_{options}, observer_{observer}, case_index_{case_index} {}

/// The padded batch run eagerly leaves the same bytes there: what differs from eager is padding's
/// doing, and not the capture's.
bool StepExperiments::is_paddings(const model::RowDifference& row) const {
  if (!run_.padded_eager || row.row_class != model::RowClass::kWrongValue) return false;
  const run::StepLog& padded = run_.padded_eager->steps.at(static_cast<std::size_t>(row.step));
  const std::ptrdiff_t at = padded.find(runner_.caches().global_row(row.cache, row.row));
  return at >= 0 && padded.digests[static_cast<std::size_t>(at)] == row.graph;
}

std::set<RowKey> StepExperiments::replay_capture(const step::CaptureRequest& request, int repeats) {
  std::set<RowKey> differing;
  run::Capture capture = runner_.capture(request, options_.capture_over_history);
  for (int i = 0; i < repeats; ++i) {
    const run::ArmLog log =
        runner_.replay(capture, run_.eager, model::Phase::kExperiment, run::PassOptions{});
    std::vector<model::RowDifference> rows = run::differing(runner_, run_.eager, log);
    std::erase_if(rows, [&](const model::RowDifference& row) { return is_paddings(row); });
    differing.merge(keys_of(rows));
  }
  return differing;
}

ExperimentResult StepExperiments::live_capture(std::span<const RowKey> rows) {
  if (auto reason = nothing_captured(run_)) return *reason;
  if (rows.empty()) return NotRunnable{"no row to look at"};
  step::CaptureRequest live = options_.capture;
  live.metadata = step::CaptureMetadata::kLive;
  live.live_step = rows.front().step;
  const std::set<RowKey> changed = replay_capture(live, kRepeats);
  const std::set<RowKey> sham = replay_capture(options_.capture, 1);
  return make_outcome(rows, changed, sham);
}

std::set<RowKey> StepExperiments::run_reshaped(int tokens) {
  const std::unique_ptr<step::Step> step = runner_.step().reshaped({.tokens = tokens});
  run::ArmRunner runner{*step, runner_.device(), observer_, case_index_};
  const run::ArmLog eager =
      runner.run_eager(step::Arm::kEager, model::Phase::kEager, run::PassOptions{});
  run::Capture capture = runner.capture(options_.capture, options_.capture_over_history);
  std::set<RowKey> differing;
  for (int i = 0; i < kRepeats; ++i) {
    const run::ArmLog graph =
        runner.replay(capture, eager, model::Phase::kExperiment, run::PassOptions{});
    differing.merge(keys_of(run::differing(runner, eager, graph)));
  }
  return differing;
}

ExperimentResult StepExperiments::fill_bucket(std::span<const RowKey> rows) {
  if (auto reason = nothing_captured(run_)) return *reason;
  int tokens = 0;
  int bucket = 0;
  for (const RowKey& row : rows) {
    const model::StepFacts& step = run_.facts.steps.at(static_cast<std::size_t>(row.step));
    tokens = std::max(tokens, step.tokens);
    bucket = std::max(bucket, step.bucket);
  }
  if (tokens >= bucket) return NotRunnable{"the bucket is full: there is no padding to take away"};
  if (runner_.step().reshaped({.tokens = bucket}) == nullptr) {
    return NotRunnable{"this step cannot run another number of lanes"};
  }
  Outcome outcome = make_outcome(rows, run_reshaped(bucket), run_reshaped(tokens));
  outcome.observations.push_back("with " + std::to_string(bucket) + " real lanes in a bucket of " +
                                 std::to_string(bucket) + ", " +
                                 std::to_string(outcome.hit_with_change) + " of " +
                                 std::to_string(outcome.rows) + " rows are right");
  return outcome;
}

std::vector<std::uint64_t> StepExperiments::digests_with_poison(std::span<const RowKey> rows,
                                                                std::uint64_t seed) {
  run::PassOptions options;
  options.before_run = [this, seed](int step) {
    device::Device& device = runner_.device();
    const model::StepFacts plan = runner_.step().plan(step);
    std::vector<std::vector<std::byte>> alive;
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      if (!input.is_activation) continue;
      for (std::int64_t lane = plan.tokens; lane < input.lanes; ++lane) {
        alive.push_back(
            kvcache::pattern_bytes(lane, static_cast<std::size_t>(input.lane_bytes), seed));
        device.copy(runner_.stream(),
                    static_cast<std::byte*>(input.address) + lane * input.lane_stride,
                    alive.back().data(), alive.back().size());
      }
    }
    device.synchronize(runner_.stream());
  };
  const run::ArmLog log =
      runner_.replay(run_.capture, run_.eager, model::Phase::kExperiment, options);
  std::vector<std::uint64_t> digests;
  for (const RowKey& row : rows) {
    const run::StepLog& step = log.steps.at(static_cast<std::size_t>(row.step));
    const std::ptrdiff_t at = step.find(runner_.caches().global_row(row.cache, row.row));
    digests.push_back(at < 0 ? 0 : step.digests[static_cast<std::size_t>(at)].value);
  }
  return digests;
}

ExperimentResult StepExperiments::poison_pad_lanes(std::span<const RowKey> rows) {
  if (auto reason = nothing_captured(run_)) return *reason;
  const std::vector<std::uint64_t> first = digests_with_poison(rows, 1);
  const std::vector<std::uint64_t> again = digests_with_poison(rows, 1);
  const std::vector<std::uint64_t> other = digests_with_poison(rows, 2);
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    outcome.hit_with_change += first[i] != other[i] ? 1 : 0;
    outcome.hit_in_sham += first[i] != again[i] ? 1 : 0;
  }
  return outcome;
}

ExperimentResult StepExperiments::serialise(std::span<const RowKey> rows) {
  if (auto reason = nothing_captured(run_)) return *reason;
  device::Device& device = runner_.device();
  std::vector<device::Graph> clones;
  std::vector<device::GraphExec> execs;
  const auto pass = [&](bool add_edges) {
    std::map<void*, device::GraphExecRef> replacement;
    run::PassOptions options;
    options.exec_for = [&](const step::Segment& segment) {
      const auto known = replacement.find(segment.graph.raw);
      if (known != replacement.end()) return known->second;
      device::Graph clone = device.clone(segment.graph);
      if (add_edges) {
        const std::vector<device::NodeInfo> nodes = device.nodes(clone.get());
        std::vector<device::EdgeInfo> edges;
        for (std::size_t i = 1; i < nodes.size(); ++i) {
          edges.push_back({nodes[i - 1].node, nodes[i].node});
        }
        device.add_edges(clone.get(), edges);
      }
      execs.push_back(device.instantiate(clone.get()));
      clones.push_back(std::move(clone));
      replacement[segment.graph.raw] = execs.back().get();
      return execs.back().get();
    };
    const run::ArmLog log =
        runner_.replay(run_.capture, run_.eager, model::Phase::kExperiment, options);
    return keys_of(run::differing(runner_, run_.eager, log));
  };
  try {
    const std::set<RowKey> changed = pass(true);
    const std::set<RowKey> sham = pass(false);
    Outcome outcome = make_outcome(rows, changed, sham);
    outcome.repeats = 1;
    return outcome;
  } catch (const device::DeviceError& error) {
    if (error.kind() != device::ErrorKind::kNotSupported) throw;
    return NotRunnable{error.what()};
  }
}

ExperimentResult StepExperiments::run(const Intervention& intervention,
                                      std::span<const RowKey> rows) {
  if (auto reason = nothing_captured(run_)) return *reason;
  switch (intervention.change) {
    case Change::kLiveCapture:
      return live_capture(rows);
    case Change::kFillBucket:
      return fill_bucket(rows);
    case Change::kPoisonPadLanes:
      return poison_pad_lanes(rows);
    case Change::kSerialise:
      return serialise(rows);
    default:
      return NotRunnable{"not yet"};
  }
}

}  // namespace graphsan::diagnose
