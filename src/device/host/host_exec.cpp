#include "device/host/host_exec.hpp"

#include <string>

#include "device/error.hpp"

namespace graphsan::device::host {
namespace {

[[noreturn]] void refuse(const char* call, const std::string& reason) {
  throw DeviceError{ErrorKind::kInvalidArgument, std::string{call} + ": " + reason};
}

}  // namespace

ExecImage::ExecImage(const HostGraph& graph)
    : enabled(graph.size(), true),
      adjacency{graph.size(), graph.edges()},
      branch_of{branches(adjacency)} {
  works.reserve(graph.size());
  for (NodeIndex i = 0; i < graph.size(); ++i) works.push_back(graph.work(i));
}

void ExecImage::replay(std::uint64_t salt) const {
  const auto order = replay_order(adjacency, branch_of, salt);
  for (const NodeIndex node : order.value()) {
    if (enabled[node]) execute(works[node]);
  }
}

HostExec::HostExec(const HostGraph& graph)
    : indexes_{graph.indexes()}, image_{std::make_shared<ExecImage>(graph)} {}

void HostExec::set_enabled(NodeRef node, bool enabled) {
  const NodeIndex index = index_of("set_enabled", node);
  writable_image().enabled[index] = enabled;
}

void HostExec::set_kernel(NodeRef node, const KernelParams& params) {
  KernelWork updated = work_as<KernelWork>("set_kernel", node);
  check_dims("set_kernel", params.dims);
  if (params.arguments.size() != 1 || params.arguments.front().offset != 0 ||
      params.arguments.front().bytes.size() != updated.arguments.size()) {
    refuse("set_kernel", "the node takes one argument of " +
                             std::to_string(updated.arguments.size()) + " bytes at offset 0");
  }
  updated.dims = params.dims;
  updated.arguments = params.arguments.front().bytes;
  writable_image().works[index_of("set_kernel", node)] = std::move(updated);
}

void HostExec::set_copy(NodeRef node, const CopyParams& params) {
  static_cast<void>(copy(node));
  if (params.bytes == 0) refuse("set_copy", "a copy node needs at least one byte");
  check_address("set_copy", params.destination);
  check_address("set_copy", params.source);
  writable_image().works[index_of("set_copy", node)] = params;
}

void HostExec::set_fill(NodeRef node, const FillParams& params) {
  static_cast<void>(work_as<FillParams>("set_fill", node));
  if (params.bytes == 0) refuse("set_fill", "a fill node needs at least one byte");
  check_address("set_fill", params.destination);
  writable_image().works[index_of("set_fill", node)] = params;
}

const CopyParams& HostExec::copy(NodeRef node) const {
  return work_as<CopyParams>("set_copy", node);
}

NodeIndex HostExec::index_of(const char* call, NodeRef node) const {
  const auto found = indexes_.find(node.raw);
  if (found == indexes_.end()) {
    refuse(call, "the node is not of the graph that was instantiated");
  }
  return found->second;
}

template <typename T>
const T& HostExec::work_as(const char* call, NodeRef node) const {
  const auto* work = std::get_if<T>(&image_->works[index_of(call, node)]);
  if (work == nullptr) refuse(call, "the node is of another kind");
  return *work;
}

ExecImage& HostExec::writable_image() {
  if (image_.use_count() > 1) image_ = std::make_shared<ExecImage>(*image_);
  return *image_;
}

}  // namespace graphsan::device::host
