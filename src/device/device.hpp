#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/address_map.hpp"
#include "device/error.hpp"
#include "device/handles.hpp"
#include "device/kernel.hpp"
#include "device/node.hpp"

namespace graphsan::device {

enum class DeviceKind : std::uint8_t { kHost, kCuda };

struct DeviceProperties {
  DeviceKind kind = DeviceKind::kHost;
  std::string name;
  int compute_major = 0;  ///< 0 on the host device
  int compute_minor = 0;
  std::size_t total_memory = 0;
  std::string driver_version;   ///< empty on the host device
  std::string runtime_version;  ///< empty on the host device
  bool native_fp8 = false;      ///< hardware fp8 conversion (compute capability 8.9 and up)
};

/// Where memory lives. Copies behave by it, as CUDA's do: a pageable source is read at the call
/// when eager and at replay when captured, a pinned one when the copy executes.
enum class MemoryKind : std::uint8_t { kDevice, kPinnedHost };

/// CUDA's three capture modes: what other threads and unsafe calls may do meanwhile.
enum class CaptureMode : std::uint8_t { kGlobal, kThreadLocal, kRelaxed };

enum class CaptureStatus : std::uint8_t { kNone, kActive, kInvalidated };

/// A device that executes streams and graphs: CUDA, or its rules simulated on the CPU.
///
/// Not thread-safe. Work on a stream is asynchronous on both implementations: host memory that it
/// reads or writes must stay alive until synchronize(). Every call throws DeviceError; destroy()
/// and free() do not.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceProperties& properties() const = 0;
  [[nodiscard]] virtual std::size_t free_memory() const = 0;

  /// At least 256-byte aligned, contents undefined. One of CUDA's "potentially
  /// unsafe" calls, with free(), elapsed_ms() and synchronize(): throws kCaptureRefused and spoils
  /// the capture while any thread captures in global mode, or this one in thread-local mode.
  [[nodiscard]] virtual void* allocate(std::size_t bytes, MemoryKind kind) = 0;
  /// Null is allowed. Work that still uses the memory must have finished. During a capture that
  /// forbids allocate(), it spoils the capture, and the memory goes when the capture ends.
  virtual void free(void* address) noexcept = 0;

  [[nodiscard]] virtual Stream create_stream() = 0;
  /// Waits for the stream's work. Illegal on a capturing stream: invalidates its capture.
  virtual void synchronize(StreamRef stream) = 0;
  [[nodiscard]] virtual Event create_event() = 0;
  virtual void record(EventRef event, StreamRef stream) = 0;
  /// Later work on `stream` waits for `event`; joins `stream` to the event's capture.
  virtual void wait(StreamRef stream, EventRef event) = 0;
  /// Milliseconds between two events whose work has finished.
  [[nodiscard]] virtual double elapsed_ms(EventRef begin, EventRef end) = 0;

  /// Launches `kernel` with a copy of its argument struct, taken now.
  virtual void launch(StreamRef stream, const Kernel& kernel, const LaunchDims& dims,
                      const void* arguments) = 0;
  /// Copies between any two addresses; either side may be host memory. A copy to pageable memory
  /// has finished when the call returns, unless captured. Zero bytes, here and in fill(): nothing
  /// happens, there is no node, and the listener is not told.
  virtual void copy(StreamRef stream, void* destination, const void* source, std::size_t bytes) = 0;
  virtual void fill(StreamRef stream, void* destination, std::uint8_t value, std::size_t bytes) = 0;

  virtual void begin_capture(StreamRef stream, CaptureMode mode) = 0;
  /// Throws kCaptureInvalidated when the capture was spoiled or a forked stream was not joined; the
  /// stream can be used again either way.
  [[nodiscard]] virtual Graph end_capture(StreamRef stream) = 0;
  [[nodiscard]] virtual CaptureStatus capture_status(StreamRef stream) const = 0;
  /// The graph that `stream` is capturing into, borrowed until the capture ends; null where it
  /// captures none, or where the device does not tell. Disturbs no capture.
  [[nodiscard]] virtual GraphRef captured_graph(StreamRef /*stream*/) const { return {}; }
  /// Sets by which captures this thread's unsafe calls are forbidden, and returns what it was:
  /// kGlobal at first; kRelaxed forbids none, as an allocator needs it while its caller captures.
  virtual CaptureMode exchange_thread_mode(CaptureMode mode) { return mode; }

  /// Throws kNotSupported for graphs with allocation nodes.
  [[nodiscard]] virtual Graph clone(GraphRef graph) = 0;
  /// The node of `clone` that corresponds to `original`, a node of the graph it was cloned from.
  [[nodiscard]] virtual NodeRef find_in_clone(NodeRef original, GraphRef clone) = 0;
  [[nodiscard]] virtual GraphExec instantiate(GraphRef graph) = 0;
  virtual void launch(GraphExecRef exec, StreamRef stream) = 0;

  /// Nodes in creation order with their operands.
  [[nodiscard]] virtual std::vector<NodeInfo> nodes(GraphRef graph) = 0;
  /// The same nodes by handle alone; also of a graph that is being captured.
  [[nodiscard]] virtual std::vector<NodeRef> node_refs(GraphRef graph) {
    std::vector<NodeRef> refs;
    for (const NodeInfo& node : nodes(graph)) refs.push_back(node.node);
    return refs;
  }
  [[nodiscard]] virtual std::vector<EdgeInfo> edges(GraphRef graph) = 0;
  /// Adds the edges that the graph does not have yet; a cycle is an error.
  virtual void add_edges(GraphRef graph, std::span<const EdgeInfo> edges) = 0;

  /// `exec` must have been instantiated from the graph that holds `node`. Kernel, copy and fill
  /// nodes only.
  virtual void set_enabled(GraphExecRef exec, NodeRef node, bool enabled) = 0;
  /// Replaces the grid and the argument bytes; argument sizes and offsets must be the node's.
  virtual void set_kernel(GraphExecRef exec, NodeRef node, const KernelParams& params) = 0;
  virtual void set_copy(GraphExecRef exec, NodeRef node, const CopyParams& params) = 0;
  virtual void set_fill(GraphExecRef exec, NodeRef node, const FillParams& params) = 0;

  /// What kind of memory an address is, for resolving what nobody named; kUnknown where the device
  /// cannot tell.
  [[nodiscard]] virtual Owner memory_kind(const void* address) const = 0;
  /// Makes every later copy outside a capture wait until it has executed, as launch-blocking modes
  /// do; an experiment on code that overwrites what a copy still reads.
  void set_wait_for_copies(bool wait) noexcept { wait_for_copies_ = wait; }

  /// At most one listener; null removes it. Borrowed.
  void set_work_listener(WorkListener* listener) noexcept { listener_ = listener; }

  /// At most one listener; null removes it. Borrowed. It is told the label that holds now.
  void set_label_listener(LabelListener* listener) {
    label_listener_ = listener;
    if (listener != nullptr) listener->on_label(label_);
  }

  virtual void destroy(StreamRef stream) noexcept = 0;
  virtual void destroy(EventRef event) noexcept = 0;
  virtual void destroy(GraphRef graph) noexcept = 0;
  virtual void destroy(GraphExecRef exec) noexcept = 0;

 protected:
  /// Implementations call this once for each launch(), copy() and fill() that was accepted.
  void notify(WorkRecord record) const {
    if (listener_ == nullptr) return;
    record.label = label_;
    listener_->on_work(record);
  }
  [[nodiscard]] bool has_listener() const noexcept { return listener_ != nullptr; }
  [[nodiscard]] bool waits_for_copies() const noexcept { return wait_for_copies_; }

 private:
  friend class LabelScope;
  std::string exchange_label(std::string label) {
    std::string previous = std::exchange(label_, std::move(label));
    if (label_listener_ != nullptr) label_listener_->on_label(label_);
    return previous;
  }

  WorkListener* listener_ = nullptr;
  LabelListener* label_listener_ = nullptr;
  bool wait_for_copies_ = false;
  std::string label_;
};

/// Labels the work issued during its lifetime, such as `layer 1 / insert`; scopes nest, the
/// innermost wins.
class LabelScope {
 public:
  LabelScope(Device& device, std::string label)
      : device_{device}, previous_{device.exchange_label(std::move(label))} {}
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;
  ~LabelScope() { static_cast<void>(device_.exchange_label(std::move(previous_))); }

 private:
  Device& device_;
  std::string previous_;
};

template <typename Tag>
Owned<Tag>::~Owned() {
  if (ref_) device_->destroy(ref_);
}

}  // namespace graphsan::device
