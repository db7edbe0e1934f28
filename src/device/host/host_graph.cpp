#include "device/host/host_graph.hpp"

#include <algorithm>
#include <set>

#include "device/error.hpp"
#include "device/host/replay_order.hpp"

namespace graphsan::device::host {
namespace {

NodeInfo to_info(NodeRef node, const Work& work) {
  NodeInfo info;
  info.node = node;
  info.kind = node_kind(work);
  info.name = node_name(work);
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    info.kernel = {kernel->dims, {Argument{0, kernel->arguments}}};
  } else if (const auto* copy = std::get_if<CopyParams>(&work)) {
    info.copy = *copy;
  } else if (const auto* fill = std::get_if<FillParams>(&work)) {
    info.fill = *fill;
  }
  return info;
}

bool has_cycle(std::size_t size, std::span<const Edge> edges) {
  const Adjacency graph{size, edges};
  return !replay_order(graph, branches(graph), 0).has_value();
}

}  // namespace

NodeIndex HostGraph::add_node(Work work, std::span<const NodeIndex> dependencies) {
  const NodeIndex index = nodes_.size();
  nodes_.push_back(std::make_unique<HostNode>(HostNode{std::move(work)}));
  indexes_.emplace(nodes_.back().get(), index);
  for (const NodeIndex before : dependencies) edges_.emplace_back(before, index);
  return index;
}

void HostGraph::add_edges(std::span<const EdgeInfo> edges) {
  std::vector<Edge> extended = edges_;
  std::set<Edge> known{edges_.begin(), edges_.end()};
  for (const EdgeInfo& edge : edges) {
    const Edge added{index_of(edge.from), index_of(edge.to)};
    if (known.insert(added).second) extended.push_back(added);
  }
  if (has_cycle(nodes_.size(), extended)) {
    throw DeviceError{ErrorKind::kInvalidArgument, "add_edges: the edges would make a cycle"};
  }
  edges_ = std::move(extended);
}

std::unique_ptr<HostGraph> HostGraph::clone() const {
  auto copy = std::make_unique<HostGraph>();
  for (const auto& node : nodes_) copy->add_node(node->work, {});
  copy->edges_ = edges_;
  copy->cloned_from_ = indexes_;
  return copy;
}

NodeRef HostGraph::counterpart(NodeRef original) const {
  const auto found = cloned_from_.find(original.raw);
  if (found == cloned_from_.end()) {
    throw DeviceError{ErrorKind::kInvalidArgument,
                      "find_in_clone: the node is not of the graph that was cloned"};
  }
  return ref(found->second);
}

std::vector<NodeInfo> HostGraph::node_infos() const {
  std::vector<NodeInfo> infos;
  infos.reserve(nodes_.size());
  for (NodeIndex i = 0; i < nodes_.size(); ++i) infos.push_back(to_info(ref(i), nodes_[i]->work));
  return infos;
}

std::vector<EdgeInfo> HostGraph::edge_infos() const {
  std::vector<EdgeInfo> infos;
  infos.reserve(edges_.size());
  for (const auto& [from, to] : edges_) infos.push_back({ref(from), ref(to)});
  return infos;
}

bool HostGraph::all_lead_to(std::span<const NodeIndex> nodes,
                            std::span<const NodeIndex> ends) const {
  const Adjacency graph{nodes_.size(), edges_};
  std::vector<bool> reached(nodes_.size(), false);
  std::vector<NodeIndex> open{ends.begin(), ends.end()};
  while (!open.empty()) {
    const NodeIndex node = open.back();
    open.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    open.insert(open.end(), graph.predecessors[node].begin(), graph.predecessors[node].end());
  }
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) { return reached[node]; });
}

NodeIndex HostGraph::index_of(NodeRef node) const {
  const auto found = indexes_.find(node.raw);
  if (found == indexes_.end()) {
    throw DeviceError{ErrorKind::kInvalidArgument, "add_edges: a node is not of this graph"};
  }
  return found->second;
}

}  // namespace graphsan::device::host
