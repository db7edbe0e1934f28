#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/host/host_graph.hpp"
#include "device/host/replay_order.hpp"

namespace graphsan::device::host {

/// What one launch of an executable graph does; never changes once a launch holds it.
struct ExecImage {
  explicit ExecImage(const HostGraph& graph);

  /// Executes the enabled nodes in an order that `salt` chooses among those the edges allow.
  void replay(std::uint64_t salt) const;

  std::vector<Work> works;
  std::vector<bool> enabled;
  Adjacency adjacency;
  std::vector<std::size_t> branch_of;
};

/// An instantiated graph. It holds copies of everything: the graph may change or go.
class HostExec {
 public:
  explicit HostExec(const HostGraph& graph);

  /// Updates reach later launches only; all throw kInvalidArgument for a node of another graph,
  /// of another kind, or with operands that do not fit the node.
  void set_enabled(NodeRef node, bool enabled);
  void set_kernel(NodeRef node, const KernelParams& params);
  void set_copy(NodeRef node, const CopyParams& params);
  void set_fill(NodeRef node, const FillParams& params);

  /// Operands of a copy node as they are now; throws kInvalidArgument when it is no copy node.
  [[nodiscard]] const CopyParams& copy(NodeRef node) const;

  [[nodiscard]] std::shared_ptr<const ExecImage> image() const noexcept { return image_; }
  /// Number of the next launch, from 0; counts up.
  [[nodiscard]] std::uint64_t take_launch_number() noexcept { return launches_++; }

 private:
  [[nodiscard]] NodeIndex index_of(const char* call, NodeRef node) const;
  template <typename T>
  [[nodiscard]] const T& work_as(const char* call, NodeRef node) const;
  /// The image, copied first when a queued launch holds it.
  [[nodiscard]] ExecImage& writable_image();

  NodeIndexes indexes_;
  std::shared_ptr<ExecImage> image_;
  std::uint64_t launches_ = 0;
};

}  // namespace graphsan::device::host
