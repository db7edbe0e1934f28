// Graphs and their executable form.

#include <string>
#include <utility>

#include "device/host/host_device_class.hpp"

namespace graphsan::device::host {

Graph HostDevice::clone(GraphRef graph) {
  check_usable("clone");
  return Graph{*this, graphs_.add(graphs_.get("clone", graph).clone())};
}

NodeRef HostDevice::find_in_clone(NodeRef original, GraphRef clone) {
  return graphs_.get("find_in_clone", clone).counterpart(original);
}

GraphExec HostDevice::instantiate(GraphRef graph) {
  check_usable("instantiate");
  const HostGraph& source = graphs_.get("instantiate", graph);
  return GraphExec{*this, execs_.add(std::make_unique<HostExec>(source))};
}

void HostDevice::launch(GraphExecRef exec, StreamRef stream) {
  check_usable("launch");
  HostExec& launched = execs_.get("launch", exec);
  HostStream& target = streams_.get("launch", stream);
  if (target.capture != nullptr) {
    target.capture->check_valid("launch");
    refuse("launch", *target.capture, "a graph cannot be launched into a capturing stream");
  }
  const std::uint64_t salt = launch_salt(seed_, launched.take_launch_number());
  target.queue.push(GraphLaunch{launched.image(), salt});
}

std::vector<NodeInfo> HostDevice::nodes(GraphRef graph) {
  return graphs_.get("nodes", graph).node_infos();
}

std::vector<EdgeInfo> HostDevice::edges(GraphRef graph) {
  return graphs_.get("edges", graph).edge_infos();
}

void HostDevice::add_edges(GraphRef graph, std::span<const EdgeInfo> edges) {
  graphs_.get("add_edges", graph).add_edges(edges);
}

void HostDevice::set_enabled(GraphExecRef exec, NodeRef node, bool enabled) {
  execs_.get("set_enabled", exec).set_enabled(node, enabled);
}

void HostDevice::set_kernel(GraphExecRef exec, NodeRef node, const KernelParams& params) {
  execs_.get("set_kernel", exec).set_kernel(node, params);
}

void HostDevice::set_copy(GraphExecRef exec, NodeRef node, const CopyParams& params) {
  HostExec& target = execs_.get("set_copy", exec);
  const CopyParams& present = target.copy(node);
  if (memory_.contains(present.source) != memory_.contains(params.source) ||
      memory_.contains(present.destination) != memory_.contains(params.destination)) {
    throw DeviceError{ErrorKind::kInvalidArgument,
                      "set_copy: an operand may not move between host and device memory"};
  }
  target.set_copy(node, params);
}

void HostDevice::set_fill(GraphExecRef exec, NodeRef node, const FillParams& params) {
  HostExec& target = execs_.get("set_fill", exec);
  if (is_pageable(params.destination)) {
    throw DeviceError{ErrorKind::kInvalidArgument,
                      "set_fill: the destination is pageable host memory"};
  }
  target.set_fill(node, params);
}

void HostDevice::destroy(GraphRef graph) noexcept { static_cast<void>(graphs_.take(graph)); }

void HostDevice::destroy(GraphExecRef exec) noexcept { static_cast<void>(execs_.take(exec)); }

}  // namespace graphsan::device::host
