#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "device/host/arena.hpp"
#include "device/host/handle_table.hpp"
#include "device/host/host_device.hpp"
#include "device/host/host_exec.hpp"
#include "device/host/host_graph.hpp"
#include "device/host/host_objects.hpp"

namespace graphsan::device::host {

/// The device behind make_host_device().
///
/// Streams are deferred: work runs in synchronize(), in a copy to pageable memory, and when another
/// stream that runs awaits its event. Addresses outside both arenas are pageable host memory.
class HostDevice final : public Device {
 public:
  explicit HostDevice(const HostDeviceOptions& options);

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t free_memory() const override { return memory_.free_bytes(); }
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
  CaptureMode exchange_thread_mode(CaptureMode mode) override;

  [[nodiscard]] Graph clone(GraphRef graph) override;
  [[nodiscard]] NodeRef find_in_clone(NodeRef original, GraphRef clone) override;
  [[nodiscard]] GraphExec instantiate(GraphRef graph) override;
  void launch(GraphExecRef exec, StreamRef stream) override;
  [[nodiscard]] std::vector<NodeInfo> nodes(GraphRef graph) override;
  [[nodiscard]] std::vector<EdgeInfo> edges(GraphRef graph) override;
  void add_edges(GraphRef graph, std::span<const EdgeInfo> edges) override;
  void set_enabled(GraphExecRef exec, NodeRef node, bool enabled) override;
  void set_kernel(GraphExecRef exec, NodeRef node, const KernelParams& params) override;
  void set_copy(GraphExecRef exec, NodeRef node, const CopyParams& params) override;
  void set_fill(GraphExecRef exec, NodeRef node, const FillParams& params) override;

  [[nodiscard]] Owner memory_kind(const void* address) const override;

  void destroy(StreamRef stream) noexcept override;
  void destroy(EventRef event) noexcept override;
  void destroy(GraphRef graph) noexcept override;
  void destroy(GraphExecRef exec) noexcept override;

 private:
  void release(void* address) noexcept;
  [[nodiscard]] bool is_pageable(const void* address) const;
  /// Queues or captures `work` and tells the listener.
  void accept(const char* call, HostStream& stream, Work work);
  void enqueue(HostStream& stream, Work work);
  /// Executes the stream's queue; a kSticky failure loses the device.
  void run(HostStream& stream);
  /// Throws kSticky once the device is lost.
  void check_usable(const char* call) const;

  [[nodiscard]] CaptureMode thread_mode() const;
  [[nodiscard]] bool is_forbidden_by(const CaptureState& capture) const;
  /// Spoils the captures that forbid an unsafe call of this thread; false when there is none.
  bool spoil_forbidding_captures(const char* call);
  /// Throws kCaptureRefused, after spoiling them, when there are such captures.
  void check_unsafe_call(const char* call);
  [[noreturn]] void refuse(const char* call, CaptureState& capture, const std::string& reason);
  void join_capture(HostStream& stream, const HostEvent& event);
  /// Takes the capture off its streams, and releases what the last capture kept.
  void close(const CaptureState& capture);
  void abandon_captures_of(HostStream& stream);

  DeviceProperties properties_;
  std::uint64_t seed_;
  Arena memory_;
  Arena pinned_;
  HandleTable<StreamTag, HostStream> streams_;
  HandleTable<EventTag, HostEvent> events_;
  HandleTable<GraphTag, HostGraph> graphs_;
  HandleTable<GraphExecTag, HostExec> execs_;
  std::vector<std::shared_ptr<CaptureState>> captures_;  ///< under way
  std::map<std::thread::id, CaptureMode> thread_modes_;
  std::vector<void*> kept_;  ///< freed where a capture forbade it
  std::string lost_because_;
};

}  // namespace graphsan::device::host
