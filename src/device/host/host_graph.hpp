#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/host/work.hpp"
#include "device/node.hpp"

namespace graphsan::device::host {

/// A node's number in its graph; nodes are numbered in creation order.
using NodeIndex = std::size_t;
/// `second` runs after `first`.
using Edge = std::pair<NodeIndex, NodeIndex>;

struct HostNode {
  Work work;
};

/// Looks nodes up by handle without touching what the handle points to.
using NodeIndexes = std::unordered_map<const void*, NodeIndex>;

/// Nodes and the edges between them; a NodeRef of the host device points to a HostNode.
class HostGraph {
 public:
  /// `dependencies` are nodes of this graph; each becomes an edge.
  NodeIndex add_node(Work work, std::span<const NodeIndex> dependencies);
  /// All or nothing. Edges that exist already are skipped; throws kInvalidArgument for a node of
  /// another graph and for a cycle.
  void add_edges(std::span<const EdgeInfo> edges);

  [[nodiscard]] std::unique_ptr<HostGraph> clone() const;
  /// The node that corresponds to `original` in the graph this was cloned from; throws
  /// kInvalidArgument when it has none.
  [[nodiscard]] NodeRef counterpart(NodeRef original) const;

  [[nodiscard]] std::vector<NodeInfo> node_infos() const;
  [[nodiscard]] std::vector<EdgeInfo> edge_infos() const;

  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] const Work& work(NodeIndex index) const { return nodes_.at(index)->work; }
  [[nodiscard]] const std::vector<Edge>& edges() const noexcept { return edges_; }
  [[nodiscard]] const NodeIndexes& indexes() const noexcept { return indexes_; }
  /// Whether each of `nodes` is in `ends` or has a path to one of them.
  [[nodiscard]] bool all_lead_to(std::span<const NodeIndex> nodes,
                                 std::span<const NodeIndex> ends) const;

 private:
  [[nodiscard]] NodeIndex index_of(NodeRef node) const;
  [[nodiscard]] NodeRef ref(NodeIndex index) const { return NodeRef{nodes_[index].get()}; }

  std::vector<std::unique_ptr<HostNode>> nodes_;
  std::vector<Edge> edges_;
  NodeIndexes indexes_;
  NodeIndexes cloned_from_;  ///< handles of the graph this was cloned from
};

}  // namespace graphsan::device::host
