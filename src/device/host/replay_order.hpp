#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/host/host_graph.hpp"

namespace graphsan::device::host {

/// The edges of `size` nodes, by node.
struct Adjacency {
  Adjacency(std::size_t size, std::span<const Edge> edges);
  std::vector<std::vector<NodeIndex>> successors;
  std::vector<std::vector<NodeIndex>> predecessors;
};

/// Splits nodes into branches: a node goes on the branch of its only predecessor unless an earlier
/// node did so already; every other node begins one. Returns the branch of each node.
[[nodiscard]] std::vector<std::size_t> branches(const Adjacency& graph);

/// An order in which each node comes after its predecessors; empty when there is a cycle.
///
/// Branches that have no edge between them are ranked by `salt`, and a branch runs as far as it can
/// before one of lower rank: equal salts give equal orders, and over many salts each branch is both
/// as early and as late as its edges allow.
[[nodiscard]] std::optional<std::vector<NodeIndex>> replay_order(
    const Adjacency& graph, std::span<const std::size_t> branch_of, std::uint64_t salt);

/// Mixes the device's seed with the number of a launch.
[[nodiscard]] std::uint64_t launch_salt(std::uint64_t seed, std::uint64_t launch);

}  // namespace graphsan::device::host
