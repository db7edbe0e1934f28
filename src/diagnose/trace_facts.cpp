#include "diagnose/trace_facts.hpp"

#include <utility>

#include "trace/address_scan.hpp"
#include "trace/alignment.hpp"
#include "trace/graph_walk.hpp"
#include "trace/work_recorder.hpp"

namespace graphsan::diagnose {

namespace {

int interesting_step(const model::Facts& facts) {
  if (!facts.rows.empty()) return facts.rows.front().step;
  for (const model::OutputDifference& output : facts.outputs) {
    if (!output.carried) return output.step;
  }
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
    model::GraphSegment segment = std::move(walks[i].segment);
    segment.bucket = run.capture.step->bucket(step);
    segment.segment = static_cast<int>(i);
    segment.break_after = segments[i].break_after;
    trace::resolve_addresses(segment, map, 0);
    run.facts.segments.push_back(std::move(segment));
    for (std::string& sentence : walks[i].unread) run.notes.push_back(std::move(sentence));
  }
}

void add_inputs(run::CaseRun& run, std::size_t step) {
  const run::StepLog& eager = run.eager.steps[step];
  const run::StepLog& graph = run.graph.steps[step];
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const run::InputLog& input = graph.inputs[i];
    model::InputFacts facts;
    facts.name = input.name;
    facts.replay_address = input.address;
    const auto captured = run.capture.inputs.find(input.name);
    if (captured != run.capture.inputs.end()) facts.captured_address = captured->second;
    facts.contents_equal_eager = i < eager.inputs.size() && eager.inputs[i].digest == input.digest;
    run.facts.inputs.push_back(std::move(facts));
  }
}

}  // namespace

void add_trace_facts(run::ArmRunner& runner, run::CaseRun& run) {
  const device::AddressMap map = runner.step().addresses();
  for (const kvcache::CacheView& view : runner.caches().views()) {
    run.facts.cache_buffers.push_back(
        map.resolve(reinterpret_cast<std::uint64_t>(view.base), 0).name);
  }
  const int step = interesting_step(run.facts);
  if (step < 0) return;
  const auto at = static_cast<std::size_t>(step);
  add_segments(runner, run, step, map);
  run.facts.eager_launches = trace::eager_work(run.eager.steps[at].work);
  for (model::Work& launch : run.facts.eager_launches) {
    launch.addresses = trace::scan_addresses(launch, map, 0);
  }
  const std::vector<model::Work> breaks = trace::eager_work(run.graph.steps[at].work);
  run.facts.alignment = trace::align(run.facts.eager_launches, run.facts.segments, breaks);
  add_inputs(run, at);
}

}  // namespace graphsan::diagnose
