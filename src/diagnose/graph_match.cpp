#include "diagnose/graph_match.hpp"

#include <algorithm>
#include <vector>

#include "trace/graph_walk.hpp"

namespace graphsan::diagnose {

bool replays_shown_nodes(run::ArmRunner& runner, const run::CaseRun& run, int step) {
  const std::span<const step::Segment> segments = run.capture.step->segments(step);
  std::vector<device::GraphRef> graphs;
  for (const step::Segment& segment : segments) graphs.push_back(segment.graph);
  const std::vector<trace::GraphWalk> walks =
      trace::walk_segments(runner.device(), graphs, run.capture.work);
  const auto same_node = [](const model::Work& a, const model::Work& b) {
    return a.type == b.type && a.name == b.name;
  };
  return std::equal(walks.begin(), walks.end(), run.facts.segments.begin(),
                    run.facts.segments.end(),
                    [&](const trace::GraphWalk& walk, const model::GraphSegment& shown) {
                      return std::equal(walk.segment.nodes.begin(), walk.segment.nodes.end(),
                                        shown.nodes.begin(), shown.nodes.end(), same_node);
                    });
}

}  // namespace graphsan::diagnose
