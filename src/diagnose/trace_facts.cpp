#include "diagnose/trace_facts.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "device/error.hpp"
#include "diagnose/second_capture.hpp"
#include "diagnose/witness.hpp"
#include "trace/address_scan.hpp"
#include "trace/alignment.hpp"
#include "trace/graph_walk.hpp"
#include "trace/unordered_pairs.hpp"
#include "trace/work_recorder.hpp"

namespace graphsan::diagnose {

namespace {

/// The first step of the local pass in which anything differs; else the first that replays a graph;
/// -1: none does.
int interesting_step(const model::Facts& facts) {
  int first = -1;
  const auto consider = [&](int step) { first = first < 0 ? step : std::min(first, step); };
  for (const model::RowDifference& row : facts.rows) consider(row.step);
  for (const model::TopKDifference& top_k : facts.top_k) {
    if (!top_k.carried) consider(top_k.step);
  }
  for (const model::OutputDifference& output : facts.outputs) {
    if (!output.carried) consider(output.step);
  }
  if (first >= 0) return first;
  for (const model::StepFacts& step : facts.steps) {
    if (step.covered) return step.step;
  }
  return -1;
}

void add_segments(run::ArmRunner& runner, run::CaseRun& run, int step,
                  const device::AddressMap& map) {
  const std::span<const step::Segment> segments = run.capture.step->segments(step);
  std::vector<device::GraphRef> graphs;
  for (const step::Segment& segment : segments) graphs.push_back(segment.graph);
  std::vector<trace::GraphWalk> walks =
      trace::walk_segments(runner.device(), graphs, run.capture.work);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    if (segments[i].labels) trace::name_sources(walks[i], *segments[i].labels);
    model::GraphSegment segment = std::move(walks[i].segment);
    segment.bucket = run.capture.step->bucket(step);
    segment.segment = static_cast<int>(i);
    segment.break_after = segments[i].break_after;
    trace::resolve_addresses(segment, map, 0, &runner.device());
    run.facts.segments.push_back(std::move(segment));
    for (std::string& sentence : walks[i].unread) run.notes.push_back(std::move(sentence));
  }
}

const run::InputLog* find_input(const run::StepLog& log, const std::string& name) {
  for (const run::InputLog& input : log.inputs) {
    if (input.view.name == name) return &input;
  }
  return nullptr;
}

/// The step, other than `step`, whose eager contents of an input have this digest; -1: none.
int step_with(const run::ArmLog& eager, const std::string& name, std::uint64_t digest,
              std::size_t step) {
  for (const run::StepLog& log : eager.steps) {
    if (static_cast<std::size_t>(log.step) == step) continue;
    const run::InputLog* input = find_input(log, name);
    if (input != nullptr && input->digest == digest) return log.step;
  }
  return -1;
}

std::int64_t index_value(const run::InputLog& input, std::size_t lane) {
  const std::span<const std::byte> bytes = input.lane(lane);
  if (bytes.size() == sizeof(std::int64_t)) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(sizeof(value), bytes.size()));
  return value;
}

/// Looks at the entries of the pad lanes of an index input.
void add_pads(model::InputFacts& facts, const run::CaseRun& run, const run::InputLog& input,
              std::size_t step) {
  const auto tokens = static_cast<std::size_t>(run.facts.steps[step].tokens);
  const auto lanes = static_cast<std::size_t>(input.view.lanes);
  if (lanes <= tokens) return;
  facts.pad_lanes = static_cast<int>(lanes - tokens);
  if (input.view.is_activation) return;
  for (std::size_t lane = tokens; lane < lanes; ++lane) {
    const std::int64_t value = index_value(input, lane);
    if (value == input.view.pad_value) continue;
    ++facts.pads_unset;
    const bool earlier =
        std::any_of(run.eager.steps.begin(), run.eager.steps.end(), [&](const run::StepLog& log) {
          const run::InputLog* before = find_input(log, facts.name);
          if (before == nullptr) return false;
          for (std::size_t i = 0; i < static_cast<std::size_t>(before->view.lanes); ++i) {
            if (index_value(*before, i) == value) return true;
          }
          return false;
        });
    facts.pads_from_earlier += earlier ? 1 : 0;
  }
}

void add_inputs(run::CaseRun& run, std::size_t step) {
  const run::StepLog& eager = run.eager.steps[step];
  const auto addresses = run.capture.inputs_of(static_cast<int>(step));
  for (const run::InputLog& input : run.graph.steps[step].inputs) {
    model::InputFacts facts;
    facts.name = input.view.name;
    facts.is_activation = input.view.is_activation;
    facts.replay_address = reinterpret_cast<std::uint64_t>(input.view.address);
    const auto captured = addresses.find(facts.name);
    if (captured != addresses.end()) facts.captured_address = captured->second;
    const run::InputLog* right = find_input(eager, facts.name);
    facts.contents_equal_eager = right != nullptr && right->digest == input.digest;
    if (!facts.contents_equal_eager) {
      facts.contents_of_step = step_with(run.eager, facts.name, input.digest, step);
    }
    facts.submitted_differs = input.view.submitted && *input.view.submitted != input.digest;
    add_pads(facts, run, input, step);
    run.facts.inputs.push_back(std::move(facts));
  }
}

/// Looks at every covered step: another fault may make an earlier one the first that diverges.
void add_opaque(run::CaseRun& run) {
  const run::StepLog& start = run.graph.steps.front();
  const run::ArmLog& eager = run.padded_eager ? *run.padded_eager : run.eager;
  for (std::size_t i = 0; i < start.opaque.size(); ++i) {
    model::OpaqueFacts facts;
    facts.name = start.opaque[i].view.name;
    facts.bytes = start.opaque[i].bytes.size();
    for (std::size_t step = 0; step < run.graph.steps.size(); ++step) {
      if (!run.facts.steps[step].covered) continue;
      const std::vector<std::byte>& now = run.graph.steps[step].opaque[i].bytes;
      const std::vector<run::OpaqueLog>& theirs = eager.steps[step].opaque;
      facts.differs_from_start = facts.differs_from_start || start.opaque[i].bytes != now;
      facts.differs_from_eager =
          facts.differs_from_eager || (i < theirs.size() && theirs[i].bytes != now);
    }
    run.facts.opaque.push_back(std::move(facts));
  }
}

bool same_structure(const std::vector<device::NodeInfo>& a,
                    const std::vector<device::NodeInfo>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const device::NodeInfo& left, const device::NodeInfo& right) {
                      return left.kind == right.kind && left.name == right.name &&
                             left.kernel.dims.grid == right.kernel.dims.grid;
                    });
}

std::vector<device::NodeInfo> nodes_of(device::Device& device,
                                       std::span<const step::Segment> segments) {
  std::vector<device::NodeInfo> nodes;
  for (const step::Segment& segment : segments) {
    if (!segment.graph) continue;
    std::vector<device::NodeInfo> more = device.nodes(segment.graph);
    std::move(more.begin(), more.end(), std::back_inserter(nodes));
  }
  return nodes;
}

void add_other_graphs(run::ArmRunner& runner, run::CaseRun& run, int step) {
  const auto others = run.capture.step->alternatives(step);
  if (others.empty()) return;
  const auto chosen = nodes_of(runner.device(), run.capture.step->segments(step));
  for (const std::span<const step::Segment> segments : others) {
    const auto nodes = nodes_of(runner.device(), segments);
    model::OtherGraph other;
    other.nodes = nodes.size();
    other.same_structure = same_structure(chosen, nodes);
    for (const device::NodeInfo& node : nodes) other.kernels.push_back(node.name);
    run.facts.other_graphs.push_back(std::move(other));
  }
}

/// Says what memory an address is that no buffer claims.
void classify_unknown(device::Device& device, model::Work& work) {
  for (model::AddressUse& use : work.addresses) {
    if (use.owner != model::OwnerKind::kUnknown || use.address == 0) continue;
    use.owner = trace::owner_of(device.memory_kind(reinterpret_cast<const void*>(use.address)));
    use.captured_owner = use.owner;
  }
}

std::vector<model::Work> scanned(run::ArmRunner& runner,
                                 const std::vector<device::WorkRecord>& records,
                                 const device::AddressMap& map) {
  std::vector<model::Work> launches = trace::eager_work(records);
  for (model::Work& launch : launches) {
    launch.addresses = trace::scan_addresses(launch, map, 0);
    classify_unknown(runner.device(), launch);
  }
  return launches;
}

bool any_difference(const model::Facts& facts) {
  return !facts.rows.empty() || !facts.top_k.empty() || !facts.outputs.empty();
}

/// What a capture of the step's own batch records, in place of launches whose arguments nobody
/// sees.
void add_live_capture(run::ArmRunner& runner, run::CaseRun& run, int step) {
  try {
    SecondCapture second{runner, run};
    run.facts.padded_launches = second.at(step).works;
  } catch (const std::exception& error) {
    rethrow_if_lost(error);
    run.notes.push_back(
        std::string{"no second capture could be made, so no argument was compared: "} +
        error.what());
    return;
  }
  run.facts.padded_launches_captured = true;
  run.facts.padded_alignment = trace::align(run.facts.padded_launches, run.facts.segments, {});
}

/// The launches of a step and the nodes beside them. Where nobody saw the launches there is no
/// alignment: a node would look as if it had none.
void add_launches(run::ArmRunner& runner, run::CaseRun& run, int step) {
  const auto at = static_cast<std::size_t>(step);
  const bool unseen = launches_unseen(run, step);
  const std::vector<model::Work> breaks = trace::eager_work(run.graph.steps[at].work);
  const auto of = [&](const run::ArmLog& log) {
    return unseen ? witnessed_launches(runner, run, log.arm, step)
                  : scanned(runner, log.steps[at].work, log.addresses);
  };
  run.facts.eager_launches = of(run.eager);
  if (unseen && run.facts.eager_launches.empty()) return;
  run.facts.alignment = trace::align(run.facts.eager_launches, run.facts.segments, breaks);
  if (!run.padded_eager) return;
  if (unseen && any_difference(run.facts)) {
    add_live_capture(runner, run, step);
    return;
  }
  run.facts.padded_launches = of(*run.padded_eager);
  if (unseen && run.facts.padded_launches.empty()) return;
  run.facts.padded_alignment = trace::align(run.facts.padded_launches, run.facts.segments, breaks);
}

}  // namespace

void add_trace_facts(run::ArmRunner& runner, run::CaseRun& run) {
  const device::AddressMap map = runner.step().addresses();
  for (const kvcache::CacheView& view : runner.caches().views()) {
    run.facts.cache_buffers.push_back(
        map.resolve(reinterpret_cast<std::uint64_t>(view.base), 0).name);
  }
  run.facts.escaped = scanned(runner, run.capture.escaped, map);
  const int step = interesting_step(run.facts);
  if (step < 0) return;
  const auto at = static_cast<std::size_t>(step);
  add_segments(runner, run, step, map);
  for (model::GraphSegment& segment : run.facts.segments) {
    trace::resolve_captured(segment, run.capture.addresses);
    for (model::Work& node : segment.nodes) classify_unknown(runner.device(), node);
    const auto pairs = trace::unordered_pairs(segment);
    run.facts.unordered.insert(run.facts.unordered.end(), pairs.begin(), pairs.end());
  }
  std::stable_partition(run.facts.unordered.begin(), run.facts.unordered.end(),
                        [](const model::UnorderedPair& pair) { return pair.declared; });
  add_launches(runner, run, step);
  add_inputs(run, at);
  add_opaque(run);
  add_other_graphs(runner, run, step);
}

}  // namespace graphsan::diagnose
