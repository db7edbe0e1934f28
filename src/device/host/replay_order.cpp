#include "device/host/replay_order.hpp"

#include <queue>
#include <utility>

namespace graphsan::device::host {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

Adjacency::Adjacency(std::size_t size, std::span<const Edge> edges)
    : successors(size), predecessors(size) {
  for (const auto& [from, to] : edges) {
    successors[from].push_back(to);
    predecessors[to].push_back(from);
  }
}

std::vector<std::size_t> branches(const Adjacency& graph) {
  const std::size_t size = graph.predecessors.size();
  std::vector<std::size_t> branch_of(size);
  for (NodeIndex node = 0; node < size; ++node) branch_of[node] = node;
  std::vector<bool> continued(size, false);
  for (NodeIndex node = 0; node < size; ++node) {
    const auto& before = graph.predecessors[node];
    if (before.size() != 1 || before.front() > node || continued[before.front()]) continue;
    continued[before.front()] = true;
    branch_of[node] = branch_of[before.front()];
  }
  return branch_of;
}

std::optional<std::vector<NodeIndex>> replay_order(const Adjacency& graph,
                                                   std::span<const std::size_t> branch_of,
                                                   std::uint64_t salt) {
  const std::size_t size = graph.predecessors.size();
  std::priority_queue<std::pair<std::uint64_t, NodeIndex>> ready;
  const auto make_ready = [&](NodeIndex node) {
    ready.emplace(mix(salt ^ mix(branch_of[node])), node);
  };

  std::vector<std::size_t> waiting_for(size);
  for (NodeIndex node = 0; node < size; ++node) {
    waiting_for[node] = graph.predecessors[node].size();
    if (waiting_for[node] == 0) make_ready(node);
  }
  std::vector<NodeIndex> order;
  order.reserve(size);
  while (!ready.empty()) {
    const NodeIndex node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (const NodeIndex next : graph.successors[node]) {
      if (--waiting_for[next] == 0) make_ready(next);
    }
  }
  if (order.size() != size) return std::nullopt;
  return order;
}

std::uint64_t launch_salt(std::uint64_t seed, std::uint64_t launch) {
  return mix(mix(seed) + launch);
}

}  // namespace graphsan::device::host
