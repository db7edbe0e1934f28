#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace graphsan::device {

/// Indices 0..count-1 in an order in which every edge (from, to) points forward, as close to the
/// given order as that allows: of the nodes whose predecessors are placed, the lowest comes next.
///
/// A list that has no backward edge comes back as it is. Edges that name an index beyond `count`
/// throw DeviceError kInvalidArgument, and so does a cycle.
[[nodiscard]] std::vector<std::size_t> stable_topological_order(
    std::size_t count, std::span<const std::pair<std::size_t, std::size_t>> edges);

}  // namespace graphsan::device
