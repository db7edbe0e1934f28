#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/graph.hpp"
#include "trace/activity.hpp"

namespace graphsan::trace {

/// The activities that ran outside any graph, as launches in the order of their issue (by
/// correlation), numbered from 0. They carry no arguments and no addresses; their source is the
/// label.
[[nodiscard]] std::vector<model::Work> launched_work(std::span<const Activity> activities);

/// How often a node executed, and for how long together.
struct NodeRuns {
  std::uint64_t runs = 0;
  std::uint64_t nanoseconds = 0;
};

/// What the trace says of each of `node_ids`, in their order; a node that never ran has no runs.
///
/// An id's upper half names a graph, its lower half the node's number in it. Instantiating copies
/// the graph: activities of a replay name the nodes of the copy, whose numbers are the original's
/// (seen with CUDA 13.0 and driver 580). So nodes are matched by number, and all graph activities
/// must come from one exec; throws TraceError otherwise.
[[nodiscard]] std::vector<NodeRuns> node_runs(std::span<const Activity> activities,
                                              std::span<const std::uint64_t> node_ids);

}  // namespace graphsan::trace
