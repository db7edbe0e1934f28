#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/graph.hpp"
#include "trace/activity.hpp"

namespace graphsan::trace {

/// The activities that ran outside any graph, as launches in the order of their issue (by
/// correlation), numbered from 0. They carry no arguments, no addresses and no source.
[[nodiscard]] std::vector<model::Work> launched_work(std::span<const Activity> activities);

/// How often a node executed, and for how long together.
struct NodeRuns {
  std::uint64_t runs = 0;
  std::uint64_t nanoseconds = 0;
};

/// What the trace says of each of `node_ids`, in their order; a node that never ran has no runs.
[[nodiscard]] std::vector<NodeRuns> node_runs(std::span<const Activity> activities,
                                              std::span<const std::uint64_t> node_ids);

}  // namespace graphsan::trace
