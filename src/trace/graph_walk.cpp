#include "trace/graph_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "trace/work_value.hpp"

namespace graphsan::trace {
namespace {

bool same_dims(const device::LaunchDims& a, const device::LaunchDims& b) {
  return a.grid == b.grid && a.block == b.block && a.shared_bytes == b.shared_bytes;
}

bool same_kernel(const device::NodeInfo& node, const device::WorkRecord& record) {
  if (!same_dims(node.kernel.dims, record.dims)) return false;
  const std::vector<device::Argument>& arguments = node.kernel.arguments;
  if (!node.unreadable.empty()) return true;
  if (record.arguments.empty()) return arguments.empty();
  return arguments.size() == 1 && arguments.front().bytes == record.arguments;
}

bool same_copy(const device::NodeInfo& node, const device::WorkRecord& record) {
  return node.copy && record.copy && node.copy->destination == record.copy->destination &&
         node.copy->source == record.copy->source && node.copy->bytes == record.copy->bytes;
}

bool same_fill(const device::NodeInfo& node, const device::WorkRecord& record) {
  return node.fill && record.fill && node.fill->destination == record.fill->destination &&
         node.fill->bytes == record.fill->bytes && node.fill->value == record.fill->value;
}

/// Whether `record` may be what made `node`.
bool made(const device::WorkRecord& record, const device::NodeInfo& node) {
  if (record.kind != node.kind) return false;
  if (node.kind == device::NodeKind::kKernel) return same_kernel(node, record);
  return same_copy(node, record) || same_fill(node, record);
}

/// Records that no node has taken yet, in issue order.
class UnusedRecords {
 public:
  explicit UnusedRecords(std::span<const device::WorkRecord> records) {
    for (const device::WorkRecord& record : records) {
      if (record.captured) unused_.push_back(&record);
    }
  }

  /// Null where no record fits.
  const device::WorkRecord* take(const device::NodeInfo& node) {
    const auto found = std::ranges::find_if(
        unused_, [&node](const device::WorkRecord* record) { return made(*record, node); });
    if (found == unused_.end()) return nullptr;
    const device::WorkRecord* record = *found;
    unused_.erase(found);
    return record;
  }

 private:
  std::vector<const device::WorkRecord*> unused_;
};

model::Work node_value(const device::NodeInfo& node, int id, const device::WorkRecord* record) {
  model::Work work = to_work(node, id);
  if (record == nullptr) return work;
  work.source = record->label;
  if (record->kernel != nullptr) {
    work.name = record->name;
    work.fields = argument_fields(*record->kernel);
  }
  return work;
}

GraphWalk walk(device::Device& device, device::GraphRef graph, UnusedRecords& records) {
  GraphWalk result;
  std::unordered_map<void*, int> ids;
  for (const device::NodeInfo& node : device.nodes(graph)) {
    const int id = static_cast<int>(result.segment.nodes.size());
    ids.emplace(node.node.raw, id);
    result.refs.push_back(node.node);
    result.segment.nodes.push_back(node_value(node, id, records.take(node)));
    if (!node.unreadable.empty()) {
      result.unread.push_back(fmt::format("node {} ({}): {}", id, node.name, node.unreadable));
    }
  }
  for (const device::EdgeInfo& edge : device.edges(graph)) {
    result.segment.edges.push_back({ids.at(edge.from.raw), ids.at(edge.to.raw)});
  }
  std::ranges::sort(result.segment.edges, {}, [](const model::GraphEdge& edge) {
    return std::pair{edge.from, edge.to};
  });
  return result;
}

}  // namespace

void name_sources(GraphWalk& walk, const std::unordered_map<void*, std::string>& sources) {
  for (std::size_t i = 0; i < walk.refs.size(); ++i) {
    const auto found = sources.find(walk.refs[i].raw);
    model::Work& node = walk.segment.nodes[i];
    if (found != sources.end() && node.source.empty()) node.source = found->second;
  }
}

GraphWalk walk_graph(device::Device& device, device::GraphRef graph,
                     std::span<const device::WorkRecord> records) {
  UnusedRecords unused{records};
  return walk(device, graph, unused);
}

std::vector<GraphWalk> walk_segments(device::Device& device,
                                     std::span<const device::GraphRef> graphs,
                                     std::span<const device::WorkRecord> records) {
  UnusedRecords unused{records};
  std::vector<GraphWalk> walks;
  for (const device::GraphRef& graph : graphs) {
    walks.push_back(graph ? walk(device, graph, unused) : GraphWalk{});
    walks.back().segment.segment = static_cast<int>(walks.size()) - 1;
  }
  return walks;
}

}  // namespace graphsan::trace
