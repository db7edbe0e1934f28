#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/device.hpp"
#include "model/graph.hpp"

namespace graphsan::trace {

/// A graph as a value, and what of it could not be read.
struct GraphWalk {
  /// `segment.nodes[i]` has id i and is `Device::nodes(graph)[i]`. Bucket, segment number,
  /// `break_after` and the nodes' addresses are the caller's to fill in.
  model::GraphSegment segment;
  std::vector<device::NodeRef> refs;  ///< of `segment.nodes`
  std::vector<std::string> unread;    ///< one sentence a node whose operands are missing
};

/// Reads every node and edge of `graph`.
///
/// `records` are the records of the work that was captured into it, in issue order; others are
/// passed over. A node takes its source, its field names and its kernel's short name from the first
/// unused record with the same operands; a node without such a record, as in a framework's graph,
/// keeps the device's name and has no source. Throws DeviceError.
[[nodiscard]] GraphWalk walk_graph(device::Device& device, device::GraphRef graph,
                                   std::span<const device::WorkRecord> records);

/// Reads the segments of one captured step, whose `records` are one list: each record labels at
/// most one node, and earlier segments come first. Segments are numbered from 0; a null graph gives
/// an empty segment.
[[nodiscard]] std::vector<GraphWalk> walk_segments(device::Device& device,
                                                   std::span<const device::GraphRef> graphs,
                                                   std::span<const device::WorkRecord> records);

/// Gives each node that has no source yet the one that is known of its handle.
void name_sources(GraphWalk& walk, const std::unordered_map<void*, std::string>& sources);

}  // namespace graphsan::trace
