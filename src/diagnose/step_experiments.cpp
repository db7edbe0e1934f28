#include "diagnose/step_experiments.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "diagnose/patched_execs.hpp"
#include "run/consequences.hpp"

namespace graphsan::diagnose {

namespace {

constexpr int kRepeats = 2;

std::uint64_t count_right(std::span<const RowKey> rows, const std::set<RowKey>& wrong) {
  return static_cast<std::uint64_t>(std::count_if(
      rows.begin(), rows.end(), [&](const RowKey& row) { return !wrong.contains(row); }));
}

Outcome make_outcome(std::span<const RowKey> rows, const std::set<RowKey>& changed,
                     const std::set<RowKey>& sham, int repeats = kRepeats) {
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.hit_with_change = count_right(rows, changed);
  outcome.hit_in_sham = count_right(rows, sham);
  outcome.repeats = repeats;
  return outcome;
}

std::set<RowKey> keys_of(const std::vector<model::RowDifference>& rows) {
  std::set<RowKey> keys;
  for (const model::RowDifference& row : rows) keys.insert({row.step, row.cache, row.row});
  return keys;
}

bool is_named(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

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

const run::InputLog* find_input(const run::StepLog& log, const std::string& name) {
  for (const run::InputLog& input : log.inputs) {
    if (input.view.name == name) return &input;
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
  if (intervention.change == Change::kEagerAgain) return eager_again(rows);
  if (auto reason = nothing_captured(run_)) return *reason;
  switch (intervention.change) {
    case Change::kLiveCapture:
      return live_capture(rows);
    case Change::kFillBucket:
      return fill_bucket(rows);
    case Change::kPoisonPadLanes:
      return poison_pad_lanes(rows);
    case Change::kNeutralPadMetadata:
      return neutral_pads(intervention, rows);
    case Change::kSerialise:
      return serialise(rows);
    case Change::kPatchScalars:
    case Change::kReplaceCopySources:
      return patch(intervention, rows);
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
    case Change::kEagerAgain:
      return eager_again(rows);
    case Change::kDrawAgain:
      return draw_again(rows);
    case Change::kReplayAgain:
      return replay_again(rows);
  }
  return NotRunnable{"no such change"};
}

run::ArmLog StepExperiments::replay(run::Capture& capture, run::PassOptions options) {
  return runner_.replay(capture, run_.eager, model::Phase::kExperiment, options);
}

StepExperiments::Wrong StepExperiments::wrong_in(const run::ArmLog& log, bool carried) {
  Wrong wrong = keys_of(run::differing(runner_, run_.eager, log));
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
                                    const Hook& sham) {
  Wrong changed;
  run::PassOptions options;
  options.before_run = change;
  for (int i = 0; i < kRepeats; ++i) changed.merge(replay_wrong(options));
  options.before_run = sham;
  return make_outcome(rows, changed, replay_wrong(options));
}

Outcome StepExperiments::with_poison(std::span<const RowKey> rows,
                                     const std::function<void(int, int)>& poison, int patterns) {
  const auto pass = [&](int pattern) {
    run::PassOptions options;
    options.before_run = [&, pattern](int step) { poison(step, pattern); };
    return digests(replay(run_.capture, options), rows);
  };
  // Pattern 0 leaves everything as it is.
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

ExperimentResult StepExperiments::live_capture(std::span<const RowKey> rows) {
  std::set<int> steps;
  for (const RowKey& row : rows) {
    if (!run_.facts.steps.at(static_cast<std::size_t>(row.step)).covered) continue;
    steps.insert(row.step);
  }
  Wrong still;
  Wrong open(rows.begin(), rows.end());
  // A capture that cures every step at once is the common case; each further one costs a capture.
  for (const int step : steps) {
    const bool settled =
        std::none_of(open.begin(), open.end(), [&](const RowKey& row) { return row.step == step; });
    if (settled) continue;
    step::CaptureRequest live = options_.capture;
    live.metadata = step::CaptureMetadata::kLive;
    live.live_step = step;
    run::Capture capture = runner_.capture(live, options_.capture_over_history);
    Wrong wrong;
    for (int i = 0; i < kRepeats; ++i) {
      const run::ArmLog log = replay(capture, {});
      std::vector<model::RowDifference> differing = run::differing(runner_, run_.eager, log);
      Wrong now = wrong_in(log);
      for (const model::RowDifference& row : differing) {
        if (is_paddings(row)) now.erase({row.step, row.cache, row.row});
      }
      wrong.merge(now);
    }
    std::erase_if(open, [&](const RowKey& row) { return !wrong.contains(row); });
    for (const RowKey& row : open) {
      if (row.step == step) still.insert(row);
    }
  }
  run::Capture as_before = runner_.capture(options_.capture, options_.capture_over_history);
  return make_outcome(rows, still, wrong_in(replay(as_before, {})));
}

StepExperiments::Wrong StepExperiments::run_reshaped(int tokens) {
  const std::unique_ptr<step::Step> step = runner_.step().reshaped({.tokens = tokens});
  run::ArmRunner runner{*step, runner_.device(), observer_, case_index_};
  run::PassOptions select;
  select.select = true;
  const run::ArmLog eager = runner.run_eager(step::Arm::kEager, model::Phase::kEager, select);
  run::Capture capture = runner.capture(options_.capture, options_.capture_over_history);
  const std::vector<model::StepFacts> steps = run::plans(*step);
  Wrong wrong;
  for (int i = 0; i < kRepeats; ++i) {
    const run::ArmLog graph = runner.replay(capture, eager, model::Phase::kExperiment, {});
    wrong.merge(keys_of(run::differing(runner, eager, graph)));
    for (const auto& output : run::compare_outputs(steps, eager, graph, false)) {
      wrong.insert({output.step, output.layer, output.lane, SpotKind::kOutput});
    }
    for (const auto& top_k : run::compare_selections(steps, eager, graph, 0, false)) {
      wrong.insert({top_k.step, top_k.layer, top_k.lane, SpotKind::kSelection});
    }
  }
  return wrong;
}

ExperimentResult StepExperiments::fill_bucket(std::span<const RowKey> rows) {
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

ExperimentResult StepExperiments::poison_pad_lanes(std::span<const RowKey> rows) {
  // Zero, a large finite bf16, and a NaN.
  constexpr std::uint16_t kPatterns[] = {0, 0x0000, 0x5A80, 0x7FC0};
  const auto poison = [&](int step, int pattern) {
    if (pattern == 0) return;
    const auto tokens = static_cast<std::int64_t>(runner_.step().plan(step).tokens);
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      if (!input.is_activation || input.dtype != model::DType::kBf16) continue;
      const std::vector<std::uint16_t> values(static_cast<std::size_t>(input.lane_bytes) / 2,
                                              kPatterns[pattern]);
      for (std::int64_t lane = tokens; lane < input.lanes; ++lane) {
        upload(static_cast<std::byte*>(input.address) + lane * input.lane_stride,
               std::as_bytes(std::span{values}));
      }
    }
  };
  return with_poison(rows, poison, static_cast<int>(std::size(kPatterns)));
}

ExperimentResult StepExperiments::neutral_pads(const Intervention& intervention,
                                               std::span<const RowKey> rows) {
  const auto set = [&](int step, bool neutral) {
    const auto tokens = static_cast<std::int64_t>(runner_.step().plan(step).tokens);
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      if (input.is_activation || !is_named(intervention.names, input.name)) continue;
      const auto size = static_cast<std::size_t>(input.lane_bytes);
      if (size > sizeof(input.pad_value)) continue;
      for (std::int64_t lane = tokens; lane < input.lanes; ++lane) {
        auto* at = static_cast<std::byte*>(input.address) + lane * input.lane_stride;
        std::vector<std::byte> value = download(at, size);
        if (neutral) std::memcpy(value.data(), &input.pad_value, size);
        upload(at, value);
      }
    }
  };
  return with_hooks(
      rows, [&](int step) { set(step, true); }, [&](int step) { set(step, false); });
}

ExperimentResult StepExperiments::serialise(std::span<const RowKey> rows) {
  device::Device& device = runner_.device();
  const auto pass = [&](bool add_edges) {
    std::vector<device::Graph> clones;
    std::map<void*, device::GraphExec> execs;
    run::PassOptions options;
    options.exec_for = [&](const step::Segment& segment) {
      const auto known = execs.find(segment.graph.raw);
      if (known != execs.end()) return known->second.get();
      device::Graph clone = device.clone(segment.graph);
      if (add_edges) {
        const std::vector<device::NodeInfo> nodes = device.nodes(clone.get());
        std::vector<device::EdgeInfo> edges;
        for (std::size_t i = 1; i < nodes.size(); ++i) {
          edges.push_back({nodes[i - 1].node, nodes[i].node});
        }
        device.add_edges(clone.get(), edges);
      }
      const auto made = execs.emplace(segment.graph.raw, device.instantiate(clone.get())).first;
      clones.push_back(std::move(clone));
      return made->second.get();
    };
    Wrong wrong;
    for (int i = 0; i < kRepeats; ++i) wrong.merge(replay_wrong(options));
    return wrong;
  };
  const Wrong changed = pass(true);
  return make_outcome(rows, changed, pass(false));
}

ExperimentResult StepExperiments::patch(const Intervention& intervention,
                                        std::span<const RowKey> rows) {
  if (!run_.padded_eager) return NotRunnable{"no padded-eager arm to take the live values from"};
  PatchedExecs execs{runner_, run_, intervention};
  if (!execs.has_live_values()) return NotRunnable{"no eager launch corresponds to the node"};
  const auto pass = [&](bool sham) {
    int current = 0;
    run::PassOptions options;
    options.before_run = [&](int step) { current = step; };
    options.exec_for = [&](const step::Segment& segment) {
      return execs.exec_for(segment, current, sham);
    };
    return replay_wrong(options);
  };
  Wrong changed;
  for (int i = 0; i < kRepeats; ++i) changed.merge(pass(false));
  return make_outcome(rows, changed, pass(true));
}

ExperimentResult StepExperiments::refresh_inputs(const Intervention& intervention,
                                                 std::span<const RowKey> rows) {
  std::size_t found = 0;
  const auto set = [&](int step, bool live) {
    const run::StepLog& log = reference_arm().steps.at(static_cast<std::size_t>(step));
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      if (!is_named(intervention.names, input.name)) continue;
      const run::InputLog* right = find_input(log, input.name);
      const auto captured = run_.capture.inputs.find(input.name);
      if (right == nullptr || captured == run_.capture.inputs.end()) continue;
      ++found;
      auto* to = reinterpret_cast<std::byte*>(captured->second);
      const auto lanes = std::min(input.lanes, right->view.lanes);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        std::byte* at = to + lane * input.lane_stride;
        const auto size = static_cast<std::size_t>(input.lane_bytes);
        upload(at, live
                       ? std::vector<std::byte>(right->lane(static_cast<std::size_t>(lane)).begin(),
                                                right->lane(static_cast<std::size_t>(lane)).end())
                       : download(at, size));
      }
    }
  };
  Outcome outcome = with_hooks(
      rows, [&](int step) { set(step, true); }, [&](int step) { set(step, false); });
  if (found == 0) return NotRunnable{"no input of that name has an address from the capture"};
  return outcome;
}

ExperimentResult StepExperiments::set_opaque(const Intervention& intervention,
                                             std::span<const RowKey> rows) {
  const bool from_start = intervention.change == Change::kRestoreOpaque;
  std::size_t found = 0;
  const auto set = [&](int step, bool change) {
    const run::StepLog& source = from_start
                                     ? run_.graph.steps.front()
                                     : reference_arm().steps.at(static_cast<std::size_t>(step));
    for (const run::OpaqueLog& log : source.opaque) {
      if (!is_named(intervention.names, log.view.name)) continue;
      ++found;
      upload(log.view.address, change ? log.bytes : download(log.view.address, log.bytes.size()));
    }
  };
  Outcome outcome = with_hooks(
      rows, [&](int step) { set(step, true); }, [&](int step) { set(step, false); });
  if (found == 0) return NotRunnable{"the step declares no such state"};
  return outcome;
}

ExperimentResult StepExperiments::restore_after_capture(std::span<const RowKey> rows) {
  const auto pass = [&](bool forget) {
    run::PassOptions options;
    options.resync = false;
    options.forget_capture = forget;
    return wrong_in(replay(run_.capture, options), true);
  };
  Wrong changed;
  for (int i = 0; i < kRepeats; ++i) changed.merge(pass(true));
  return make_outcome(rows, changed, pass(false));
}

ExperimentResult StepExperiments::keep_freed(std::span<const RowKey> rows) {
  const auto pass = [&](bool keep, int repeats) {
    step::CaptureRequest request = options_.capture;
    request.keep_freed = keep;
    run::Capture capture = runner_.capture(request, options_.capture_over_history);
    Wrong wrong;
    for (int i = 0; i < repeats; ++i) wrong.merge(wrong_in(replay(capture, {})));
    return wrong;
  };
  const Wrong changed = pass(true, kRepeats);
  return make_outcome(rows, changed, pass(false, 1));
}

ExperimentResult StepExperiments::poison_blocks(std::span<const RowKey> rows, bool graph_pool) {
  // As an index, the second is the one that ops most often skip; as a number it is a NaN.
  constexpr std::uint8_t kPatterns[] = {0, 0x00, 0xFF};
  std::size_t blocks = 0;
  const auto poison = [&](int, int pattern) {
    if (pattern == 0) return;
    for (const step::ScratchView& block : runner_.step().scratch()) {
      if (block.graph_pool != graph_pool || (!graph_pool && block.live)) continue;
      ++blocks;
      runner_.device().fill(runner_.stream(), block.address, kPatterns[pattern],
                            static_cast<std::size_t>(block.bytes));
    }
    runner_.device().synchronize(runner_.stream());
  };
  Outcome outcome = with_poison(rows, poison, static_cast<int>(std::size(kPatterns)));
  if (blocks == 0) return NotRunnable{"the step has no such block"};
  return outcome;
}

ExperimentResult StepExperiments::other_graph(std::span<const RowKey> rows) {
  std::size_t most = 0;
  for (const RowKey& row : rows) {
    most = std::max(most, run_.capture.step->alternatives(row.step).size());
  }
  if (most == 0) return NotRunnable{"no other graph of the bucket was captured"};
  std::vector<std::vector<std::span<const step::Segment>>> others(run_.facts.steps.size());
  for (std::size_t step = 0; step < others.size(); ++step) {
    others[step] = run_.capture.step->alternatives(static_cast<int>(step));
  }
  Wrong changed(rows.begin(), rows.end());
  for (std::size_t choice = 0; choice < most; ++choice) {
    run::PassOptions options;
    options.segments_for = [&](int step) {
      const auto& known = others[static_cast<std::size_t>(step)];
      return choice < known.size() ? known[choice] : run_.capture.step->segments(step);
    };
    Wrong wrong;
    for (int i = 0; i < kRepeats; ++i) wrong.merge(replay_wrong(options));
    std::erase_if(changed, [&](const RowKey& row) { return !wrong.contains(row); });
  }
  return make_outcome(rows, changed, replay_wrong({}));
}

ExperimentResult StepExperiments::wait_for_copies(std::span<const RowKey> rows) {
  device::Device& device = runner_.device();
  device.set_wait_for_copies(true);
  Wrong changed;
  try {
    for (int i = 0; i < kRepeats; ++i) changed.merge(replay_wrong({}));
  } catch (...) {
    device.set_wait_for_copies(false);
    throw;
  }
  device.set_wait_for_copies(false);
  return make_outcome(rows, changed, replay_wrong({}));
}

ExperimentResult StepExperiments::relaunch_escaped(std::span<const RowKey> rows) {
  if (run_.capture.escaped.empty()) return NotRunnable{"no launch escaped the capture"};
  device::Device& device = runner_.device();
  run::PassOptions options;
  options.after_run = [&](int) {
    for (const device::WorkRecord& record : run_.capture.escaped) {
      if (record.kernel != nullptr) {
        device.launch(runner_.stream(), *record.kernel, record.dims, record.arguments.data());
      } else if (record.copy) {
        device.copy(runner_.stream(), record.copy->destination, record.copy->source,
                    record.copy->bytes);
      } else if (record.fill) {
        device.fill(runner_.stream(), record.fill->destination, record.fill->value,
                    record.fill->bytes);
      }
    }
  };
  Wrong changed;
  for (int i = 0; i < kRepeats; ++i) changed.merge(replay_wrong(options));
  return make_outcome(rows, changed, replay_wrong({}));
}

ExperimentResult StepExperiments::eager_again(std::span<const RowKey> rows) {
  const std::vector<std::uint64_t> first = digests(run_.eager, rows);
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = kRepeats;
  std::vector<bool> moved(rows.size(), false);
  for (int i = 0; i < kRepeats; ++i) {
    const std::vector<std::uint64_t> again = digests(
        runner_.run_eager(step::Arm::kEager, model::Phase::kControl, run::PassOptions{}), rows);
    for (std::size_t j = 0; j < rows.size(); ++j) moved[j] = moved[j] || first[j] != again[j];
  }
  outcome.hit_with_change =
      static_cast<std::uint64_t>(std::count(moved.begin(), moved.end(), true));
  return outcome;
}

ExperimentResult StepExperiments::draw_again(std::span<const RowKey> rows) {
  const auto eager = [&](bool twice) {
    run::PassOptions options;
    options.resync_to = &run_.eager;
    if (twice) {
      options.before_run = [&](int step) {
        runner_.step().prepare(step, step::Arm::kEager, runner_.stream());
      };
    }
    return digests(runner_.run_eager(step::Arm::kEager, model::Phase::kControl, options), rows);
  };
  run::PassOptions again;
  again.before_run = [&](int step) {
    runner_.step().prepare(step, step::Arm::kGraph, runner_.stream());
  };
  const std::vector<std::uint64_t> drawn = digests(run_.eager, rows);
  const std::vector<std::uint64_t> redrawn = eager(true);
  const std::vector<std::uint64_t> as_before = eager(false);
  const std::vector<std::uint64_t> replayed = digests(run_.graph, rows);
  const std::vector<std::uint64_t> repeated = digests(replay(run_.capture, again), rows);
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    outcome.hit_with_change += drawn[i] != redrawn[i] && replayed[i] == repeated[i] ? 1 : 0;
    outcome.hit_in_sham += drawn[i] != as_before[i] ? 1 : 0;
  }
  return outcome;
}

ExperimentResult StepExperiments::replay_again(std::span<const RowKey> rows) {
  constexpr int kReplays = 4;
  const std::vector<std::uint64_t> first = digests(run_.graph, rows);
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = kReplays;
  std::vector<bool> moved(rows.size(), false);
  for (int i = 0; i < kReplays; ++i) {
    const std::vector<std::uint64_t> again = digests(replay(run_.capture, {}), rows);
    for (std::size_t j = 0; j < rows.size(); ++j) moved[j] = moved[j] || first[j] != again[j];
  }
  outcome.hit_with_change =
      static_cast<std::uint64_t>(std::count(moved.begin(), moved.end(), true));
  return outcome;
}

}  // namespace graphsan::diagnose
