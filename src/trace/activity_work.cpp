#include "trace/activity_work.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "trace/activity_source.hpp"
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
  work.source = activity.label;
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
  std::unordered_map<std::uint32_t, NodeRuns> by_number;
  std::optional<std::uint64_t> graph;
  for (const Activity& activity : activities) {
    if (activity.graph_node == 0) continue;
    const std::uint64_t own = activity.graph_node >> 32;
    if (graph.value_or(own) != own) {
      throw TraceError{
          "activities of several graphs in one trace: trace one replayed exec at a time"};
    }
    graph = own;
    NodeRuns& runs = by_number[static_cast<std::uint32_t>(activity.graph_node)];
    ++runs.runs;
    runs.nanoseconds += activity.end_ns - activity.start_ns;
  }
  std::vector<NodeRuns> result;
  for (const std::uint64_t id : node_ids) {
    const auto found = by_number.find(static_cast<std::uint32_t>(id));
    result.push_back(found == by_number.end() ? NodeRuns{} : found->second);
  }
  return result;
}

}  // namespace graphsan::trace
