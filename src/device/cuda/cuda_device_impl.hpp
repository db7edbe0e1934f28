#pragma once

#include <cuda_runtime_api.h>

#include <unordered_map>
#include <vector>

#include "device/cuda/driver_api.hpp"
#include "device/device.hpp"

namespace graphsan::device {

/// A CUDA device through the runtime API and its primary context.
///
/// Streams that it makes are non-blocking: they take no part in the legacy default stream's
/// implicit ordering, so that a missing edge stays visible. Every call makes the device current on
/// the calling thread. Handles of a framework that uses the same context may be passed in as Refs.
class CudaDevice final : public Device {
 public:
  /// Creates the primary context. Throws DeviceError.
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t free_memory() const override;

  [[nodiscard]] void* allocate(std::size_t bytes, MemoryKind kind) override;
  void free(void* address) noexcept override;

  [[nodiscard]] Stream create_stream() override;
  void synchronize(StreamRef stream) override;
  [[nodiscard]] Event create_event() override;
  void record(EventRef event, StreamRef stream) override;
  void wait(StreamRef stream, EventRef event) override;
  [[nodiscard]] double elapsed_ms(EventRef begin, EventRef end) override;

  void launch(StreamRef stream, const Kernel& kernel, const LaunchDims& dims,
              const void* arguments) override;
  void copy(StreamRef stream, void* destination, const void* source, std::size_t bytes) override;
  void fill(StreamRef stream, void* destination, std::uint8_t value, std::size_t bytes) override;

  void begin_capture(StreamRef stream, CaptureMode mode) override;
  [[nodiscard]] Graph end_capture(StreamRef stream) override;
  [[nodiscard]] CaptureStatus capture_status(StreamRef stream) const override;
  [[nodiscard]] GraphRef captured_graph(StreamRef stream) const override;
  CaptureMode exchange_thread_mode(CaptureMode mode) override;

  [[nodiscard]] Graph clone(GraphRef graph) override;
  [[nodiscard]] NodeRef find_in_clone(NodeRef original, GraphRef clone) override;
  [[nodiscard]] GraphExec instantiate(GraphRef graph) override;
  void launch(GraphExecRef exec, StreamRef stream) override;

  /// CUDA documents no order for a graph's nodes. Every driver seen so far lists them in creation
  /// order, and that is relied on; where an edge contradicts the list, which a capture cannot
  /// produce, the list is corrected as little as makes every edge point forward.
  [[nodiscard]] std::vector<NodeInfo> nodes(GraphRef graph) override;
  /// In the order in which the driver lists them.
  [[nodiscard]] std::vector<NodeRef> node_refs(GraphRef graph) override;
  [[nodiscard]] std::vector<EdgeInfo> edges(GraphRef graph) override;
  void add_edges(GraphRef graph, std::span<const EdgeInfo> edges) override;

  void set_enabled(GraphExecRef exec, NodeRef node, bool enabled) override;
  /// Keeps the node's function and the form (pointers or packed) in which it holds its arguments.
  void set_kernel(GraphExecRef exec, NodeRef node, const KernelParams& params) override;
  void set_copy(GraphExecRef exec, NodeRef node, const CopyParams& params) override;
  void set_fill(GraphExecRef exec, NodeRef node, const FillParams& params) override;

  [[nodiscard]] Owner memory_kind(const void* address) const override;

  void destroy(StreamRef stream) noexcept override;
  void destroy(EventRef event) noexcept override;
  void destroy(GraphRef graph) noexcept override;
  void destroy(GraphExecRef exec) noexcept override;

 private:
  void make_current() const;
  [[nodiscard]] bool captures(StreamRef stream) const noexcept;
  [[nodiscard]] std::vector<cudaGraphNode_t> listed_nodes(GraphRef graph) const;
  /// False where CUDA refuses for now.
  [[nodiscard]] bool release(void* address, MemoryKind kind) const noexcept;
  void release_kept() noexcept;

  struct Kept {
    void* address;
    MemoryKind kind;
  };

  int ordinal_;
  DriverApi driver_;
  DeviceProperties properties_;
  std::unordered_map<void*, MemoryKind> allocations_;
  int open_captures_ = 0;
  std::vector<Kept> kept_;  ///< freed by the caller, refused by CUDA
};

}  // namespace graphsan::device
