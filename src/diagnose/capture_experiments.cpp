#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "diagnose/experiment_parts.hpp"
#include "diagnose/graph_match.hpp"
#include "diagnose/patched_execs.hpp"
#include "diagnose/step_experiments.hpp"

namespace graphsan::diagnose {

namespace {

/// Pairs whose other order is tried.
constexpr std::size_t kMostPairs = 8;

}  // namespace

/// A segment of some step's graph that has the number, and the nodes, of the one in the facts.
bool StepExperiments::is_segment(const step::Segment& segment, int number) {
  const auto at = static_cast<std::size_t>(number);
  for (int step = 0; step < static_cast<int>(run_.facts.steps.size()); ++step) {
    const std::span<const step::Segment> segments = run_.capture.step->segments(step);
    if (at < segments.size() && segments[at].graph == segment.graph) {
      return replays_shown_nodes(runner_, run_, step);
    }
  }
  return false;
}

/// Edges that put a clone's nodes in creation order, or one unordered pair in the other order.
std::vector<device::EdgeInfo> StepExperiments::edges_for(const step::Segment& segment,
                                                         device::GraphRef clone,
                                                         const model::UnorderedPair* reversed) {
  device::Device& device = runner_.device();
  const std::vector<device::NodeInfo> nodes = device.nodes(segment.graph);
  const auto in_clone = [&](std::size_t node) {
    return device.find_in_clone(nodes[node].node, clone);
  };
  std::vector<device::EdgeInfo> edges;
  if (reversed == nullptr) {
    for (std::size_t i = 1; i < nodes.size(); ++i) edges.push_back({in_clone(i - 1), in_clone(i)});
    return edges;
  }
  if (!is_segment(segment, reversed->segment)) return edges;
  edges.push_back({in_clone(static_cast<std::size_t>(reversed->second)),
                   in_clone(static_cast<std::size_t>(reversed->first))});
  return edges;
}

ExperimentResult StepExperiments::live_capture(std::span<const RowKey> rows) {
  std::set<int> steps;
  for (const RowKey& row : rows) {
    if (!run_.facts.steps.at(static_cast<std::size_t>(row.step)).covered) continue;
    steps.insert(row.step);
  }
  // Padding's doing is no capture's: neither the change nor the sham can make it right.
  const auto wrong_by_capture = [&](const run::ArmLog& log) {
    Wrong wrong = wrong_in(log);
    for (const model::RowDifference& row : run::differing(runner_, run_.eager, log)) {
      if (is_paddings(row)) wrong.erase({row.step, row.cache, row.row});
    }
    return wrong;
  };
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
    for (int i = 0; i < kRepeats; ++i) wrong.merge(wrong_by_capture(replay(capture, {})));
    std::erase_if(open, [&](const RowKey& row) { return !wrong.contains(row); });
    for (const RowKey& row : open) {
      if (row.step == step) still.insert(row);
    }
  }
  run::Capture as_before = runner_.capture(options_.capture, options_.capture_over_history);
  return make_outcome(rows, still, wrong_by_capture(replay(as_before, {})));
}

ExperimentResult StepExperiments::serialise(std::span<const RowKey> rows) {
  device::Device& device = runner_.device();
  const auto pass = [&](bool add, const model::UnorderedPair* reversed) {
    std::vector<device::Graph> clones;
    std::map<void*, device::GraphExec> execs;
    run::PassOptions options;
    options.exec_for = [&](const step::Segment& segment) {
      const auto known = execs.find(segment.graph.raw);
      if (known != execs.end()) return known->second.get();
      device::Graph clone = device.clone(segment.graph);
      if (add) device.add_edges(clone.get(), edges_for(segment, clone.get(), reversed));
      const auto made = execs.emplace(segment.graph.raw, device.instantiate(clone.get())).first;
      clones.push_back(std::move(clone));
      return made->second.get();
    };
    Wrong wrong;
    for (int i = 0; i < kRepeats; ++i) wrong.merge(replay_wrong(options));
    return wrong;
  };
  Wrong changed = pass(true, nullptr);
  // Where that is the wrong order of a pair, the other one must be right.
  const std::size_t pairs = std::min(kMostPairs, run_.facts.unordered.size());
  for (std::size_t i = 0; i < pairs && count_right(rows, changed) != rows.size(); ++i) {
    changed = pass(true, &run_.facts.unordered[i]);
  }
  return make_outcome(rows, changed, pass(false, nullptr));
}

ExperimentResult StepExperiments::patch(const Intervention& intervention,
                                        std::span<const RowKey> rows) {
  if (!run_.padded_eager) return NotRunnable{"no padded-eager arm to take the live values from"};
  PatchedExecs execs{runner_, run_, intervention};
  if (!execs.has_live_values()) {
    return NotRunnable{intervention.change == Change::kReplaceCopySources
                           ? "no eager copy corresponds to the node, or none whose bytes were kept"
                           : "no eager launch corresponds to the node"};
  }
  Wrong changed;
  for (int i = 0; i < kRepeats; ++i) changed.merge(wrong_in(replay_patched(execs, false)));
  return make_outcome(rows, changed, wrong_in(replay_patched(execs, true)));
}

run::ArmLog StepExperiments::replay_patched(PatchedExecs& execs, bool sham) {
  int current = 0;
  run::PassOptions options;
  options.before_run = [&](int step) { current = step; };
  options.exec_for = [&](const step::Segment& segment) {
    return execs.exec_for(segment, current, sham);
  };
  return replay(run_.capture, options);
}

ExperimentResult StepExperiments::try_scalars(const Intervention& intervention,
                                              std::span<const RowKey> rows) {
  if (!run_.padded_eager) return NotRunnable{"no padded-eager arm to take the live values from"};
  PatchedExecs execs{runner_, run_, intervention};
  if (!execs.has_live_values()) return NotRunnable{"no eager launch corresponds to the node"};
  const auto passes = [&](bool sham) {
    std::vector<std::vector<std::uint64_t>> all;
    for (int i = 0; i < kRepeats; ++i) all.push_back(digests(replay_patched(execs, sham), rows));
    return all;
  };
  const auto patched = passes(false);
  const auto as_before = passes(true);
  const auto agree = [](const auto& all, std::size_t row) {
    return std::all_of(all.begin(), all.end(),
                       [&](const auto& pass) { return pass[row] == all.front()[row]; });
  };
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = kRepeats;
  outcome.supports_only = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool moves = patched.front()[i] != as_before.front()[i];
    outcome.hit_with_change += moves && agree(patched, i) ? 1 : 0;
    outcome.hit_in_sham += agree(as_before, i) ? 0 : 1;
  }
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

ExperimentResult StepExperiments::relaunch_escaped(std::span<const RowKey> rows) {
  if (run_.capture.escaped.empty()) return NotRunnable{"no launch escaped the capture"};
  device::Device& device = runner_.device();
  const auto relaunch = [&] {
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
  // The graph runs once more with their results in place, as its nodes may read what escaped; the
  // sham's runs twice too.
  const auto pass = [&](bool with_escaped) {
    run::PassOptions options;
    options.after_run = [&, with_escaped](int step) {
      if (with_escaped) relaunch();
      for (const step::Segment& segment : run_.capture.step->segments(step)) {
        if (segment.exec) device.launch(segment.exec, runner_.stream());
        if (segment.run_break) segment.run_break(runner_.stream());
      }
      if (with_escaped) relaunch();
    };
    return replay_wrong(options);
  };
  // The sham comes first: what the change leaves in buffers would help it.
  const Wrong sham = pass(false);
  Wrong changed;
  for (int i = 0; i < kRepeats; ++i) changed.merge(pass(true));
  return make_outcome(rows, changed, sham);
}

}  // namespace graphsan::diagnose
