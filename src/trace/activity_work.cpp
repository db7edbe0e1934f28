#include "trace/activity_work.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "trace/work_value.hpp"

namespace graphsan::trace {
namespace {

model::NodeType type_of(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return model::NodeType::kKernel;
    case ActivityKind::kCopy:
      return model::NodeType::kMemcpy;
    case ActivityKind::kFill:
      return model::NodeType::kMemset;
  }
  throw std::logic_error{"an activity kind that is no enumerator"};
}

model::Work to_work(const Activity& activity, int id) {
  model::Work work;
  work.id = id;
  work.type = type_of(activity.kind);
  work.name = std::string{to_string(work.type)};
  if (activity.kind != ActivityKind::kKernel) return work;
  work.name = activity.name;
  work.grid = extent(activity.dims.grid);
  work.block = extent(activity.dims.block);
  work.shared_bytes = activity.dims.shared_bytes;
  return work;
}

}  // namespace

std::vector<model::Work> launched_work(std::span<const Activity> activities) {
  std::vector<const Activity*> launched;
  for (const Activity& activity : activities) {
    if (activity.graph_node == 0 && activity.graph == 0) launched.push_back(&activity);
  }
  std::ranges::stable_sort(launched, {}, [](const Activity* a) { return a->correlation; });
  std::vector<model::Work> work;
  for (const Activity* activity : launched) {
    work.push_back(to_work(*activity, static_cast<int>(work.size())));
  }
  return work;
}

std::vector<NodeRuns> node_runs(std::span<const Activity> activities,
                                std::span<const std::uint64_t> node_ids) {
  std::unordered_map<std::uint64_t, NodeRuns> by_node;
  for (const Activity& activity : activities) {
    if (activity.graph_node == 0) continue;
    NodeRuns& runs = by_node[activity.graph_node];
    ++runs.runs;
    runs.nanoseconds += activity.end_ns - activity.start_ns;
  }
  std::vector<NodeRuns> result;
  for (const std::uint64_t id : node_ids) {
    const auto found = by_node.find(id);
    result.push_back(found == by_node.end() ? NodeRuns{} : found->second);
  }
  return result;
}

}  // namespace graphsan::trace
