#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/address_map.hpp"
#include "device/device.hpp"
#include "kvcache/cache_set.hpp"
#include "model/facts.hpp"

namespace graphsan::step {

/// Which buffers and batch sizes a run of a step uses: exact ones, or the graph's padded persistent
/// ones (eagerly or captured).
enum class Arm : std::uint8_t { kEager, kPaddedEager, kGraph };

/// Metadata given to a capture: none at all, a dummy batch, or the live batch of a step.
enum class CaptureMetadata : std::uint8_t { kNone, kDummy, kLive };

/// A lane-shaped input that the step refills before each run.
struct InputView {
  std::string name;
  void* address = nullptr;       ///< lane 0
  std::int64_t lane_stride = 0;  ///< bytes between lanes
  std::int64_t lane_bytes = 0;
  std::int64_t lanes = 0;
  model::DType dtype = model::DType::kU8;
  bool is_activation = false;  ///< pad lanes hold values (an earlier batch's), not indices
  /// What a pad lane's entry must be where it is no activation: -1 in slot mappings, else 0.
  std::int64_t pad_value = 0;
  /// Digest of what the host submitted for the real lanes (kvcache::row_digest); empty where the
  /// step does not say. It differs from the buffer's where staging was overwritten in flight.
  std::optional<std::uint64_t> submitted = std::nullopt;
};

/// A buffer whose state belongs to the step and is never restored by resync.
struct OpaqueView {
  std::string name;
  void* address = nullptr;
  std::int64_t bytes = 0;
};

/// A block of an allocator that a step's graphs may name: poisoned by experiments.
struct ScratchView {
  void* address = nullptr;
  std::int64_t bytes = 0;
  bool graph_pool = false;  ///< else the general pool
  bool live = false;
};

/// A per-lane result: a view whose rows are lanes (top-k: lane-major rows per head are expressed
/// through strides). Its layout has one page of `lanes` slots.
struct OutputView {
  kvcache::CacheView view;
};

/// What a step declares. Addresses are fixed for the life of the step object.
struct StepDescription {
  std::string name;
  std::vector<kvcache::CacheView> caches;  ///< guard zones included, as kind kGuard
  bool selects_blocks = false;             ///< has a top-k
  int top_k = 0;
  std::int64_t block_size = 0;
  int steps = 0;
  /// Eager's rows and outputs should be those of the oracle's reference ops.
  bool follows_reference = true;
};

/// Which of the user's lines made a node, by the node's handle.
using NodeLabels = std::unordered_map<void*, std::string>;

/// One segment of a captured step: a graph, then an op that runs eagerly.
struct Segment {
  device::GraphRef graph;  ///< borrowed from the CapturedStep
  device::GraphExecRef exec;
  std::string break_after;  ///< name of the eager op after this segment, or empty
  /// Runs the eager op on the stream with live metadata; empty where there is none.
  std::function<void(device::StreamRef)> run_break;
  /// Of the nodes that the step labelled; null where it labelled none, or through the device.
  std::shared_ptr<const NodeLabels> labels = nullptr;
};

/// The graphs of one step object, one list of segments per bucket. Keeps alive what they use.
class CapturedStep {
 public:
  virtual ~CapturedStep() = default;
  /// Segments that replay step `step`, in order; empty where it runs eagerly, or where its capture
  /// recorded nothing.
  [[nodiscard]] virtual std::span<const Segment> segments(int step) const = 0;
  /// Bucket that step `step` is padded to.
  [[nodiscard]] virtual int bucket(int step) const = 0;
  /// The other graphs of that bucket that could be replayed for step `step`.
  [[nodiscard]] virtual std::vector<std::span<const Segment>> alternatives(int) const { return {}; }
};

struct CaptureRequest {
  std::optional<CaptureMetadata> metadata;  ///< empty: what the step's mode says
  int live_step = -1;                       ///< kLive: whose batch
  device::CaptureMode mode = device::CaptureMode::kThreadLocal;
  bool warm_up = true;
  /// Memory that is freed from now on is not used again while the captured step lives.
  bool keep_freed = false;
};

/// Reference results computed by ops known to be right, outside any graph, from the buffers as they
/// are now.
struct ReferenceSelection {
  std::int64_t lanes = 0;
  int heads = 0;
  int k = 0;
  std::int64_t blocks = 0;        ///< width of a score row
  std::vector<std::int32_t> ids;  ///< [heads][lanes][k]
  std::vector<float> scores;      ///< [heads][lanes][blocks]; NaN beyond the visible blocks
};

/// Recomputes parts of a step for the causal chain; each call synchronizes.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Layers that select blocks.
  [[nodiscard]] virtual std::vector<int> sparse_layers() const = 0;
  /// Reference indexer on the caches and the arm's index queries of `step`, real lanes.
  [[nodiscard]] virtual ReferenceSelection select(int step, Arm arm, int layer,
                                                  device::StreamRef stream) = 0;
  /// Reference attention on the caches with the arm's own selection: bytes of the real lanes'
  /// output rows, one vector a lane.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> attend(int step, Arm arm, int layer,
                                                                   device::StreamRef stream) = 0;
  /// Bytes that each lane of the arm's batch, pads included, would write into `cache` (an index
  /// into the description's caches) by the reference write; empty for a cache that is not written.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> lane_rows(int step, Arm arm, int cache,
                                                                      device::StreamRef stream) = 0;
};

/// A change to a step's shape, for experiments and for --minimize.
struct Reshape {
  std::optional<int> tokens;  ///< real lanes; the bucket stays
};

/// The code under test: one forward over a batch, run several times with different inputs.
///
/// The runner calls reset → write_history → (prepare → run)* for each arm. All work goes to the
/// stream given; nothing synchronizes except where said. One object owns one set of buffers, so
/// arms run one after another.
class Step {
 public:
  virtual ~Step() = default;
  [[nodiscard]] virtual const StepDescription& description() const = 0;
  /// The batch of step `step`: pure.
  [[nodiscard]] virtual model::StepFacts plan(int step) const = 0;
  /// Outputs and top-k of an arm as views; lanes of the arm's batch size at `step`.
  [[nodiscard]] virtual std::vector<OutputView> outputs(int step, Arm arm) const = 0;
  [[nodiscard]] virtual std::vector<InputView> inputs(int step, Arm arm) const = 0;
  /// The token of a live sequence that a row of a cache belongs to, history included; empty where
  /// the row is nobody's or the step cannot tell.
  [[nodiscard]] virtual std::optional<model::LogicalRow> owner(int, std::int64_t) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual std::vector<OpaqueView> opaque() const = 0;

  /// Zeroes the caches, restores guard zones and everything a fresh process would have.
  virtual void reset(device::StreamRef stream) = 0;
  /// Runs the step with caches not yet bound, as a profiling run does; it must write nothing.
  virtual void profile(device::StreamRef stream) = 0;
  /// Writes the rows of the context that existed before step 0.
  virtual void write_history(device::StreamRef stream) = 0;
  /// Refills the inputs of `step` for `arm`; on the padded arms pad lanes get slot -1 and keep an
  /// earlier batch's values. Synchronizes.
  virtual void prepare(int step, Arm arm, device::StreamRef stream) = 0;
  /// Runs `step` without a graph. Arm::kGraph means: a step that the mode does not cover.
  virtual void run(int step, Arm arm, device::StreamRef stream) = 0;
  /// Warm-up and capture of all buckets, largest first. Throws DeviceError when CUDA refuses.
  [[nodiscard]] virtual std::unique_ptr<CapturedStep> capture(const CaptureRequest& request,
                                                              device::StreamRef stream) = 0;
  /// Named buffers, pools and freed blocks, for resolving addresses.
  [[nodiscard]] virtual device::AddressMap addresses() const = 0;
  /// Blocks of the allocator that captured work may name, live and free.
  [[nodiscard]] virtual std::vector<ScratchView> scratch() const { return {}; }
  [[nodiscard]] virtual Oracle* oracle() { return nullptr; }
  /// A step of another shape on the same device, or null where this kind of step cannot.
  [[nodiscard]] virtual std::unique_ptr<Step> reshaped(const Reshape&) const { return nullptr; }
};

}  // namespace graphsan::step
