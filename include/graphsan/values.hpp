// What a step declares and is called with, as plain C++ values; C++17.
#ifndef GRAPHSAN_VALUES_HPP
#define GRAPHSAN_VALUES_HPP

#include <graphsan/plugin.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace graphsan {

/// Element types.
enum class DType : std::int32_t {
  kU8 = GRAPHSAN_U8,
  kI32 = GRAPHSAN_I32,
  kI64 = GRAPHSAN_I64,
  kF32 = GRAPHSAN_F32,
  kBf16 = GRAPHSAN_BF16,
  kFp8E4M3 = GRAPHSAN_FP8_E4M3,
  kFp8E5M2 = GRAPHSAN_FP8_E5M2
};

/// What a cache holds.
enum class CacheKind : std::int32_t {
  kKey = GRAPHSAN_KEY,
  kValue = GRAPHSAN_VALUE,
  kIndexKey = GRAPHSAN_INDEX_KEY,  ///< written at Batch::index_slots
  kScale = GRAPHSAN_SCALE,
  kOther = GRAPHSAN_OTHER
};

/// How an output is compared: bit by bit, or as sets of block ids (`DType::kI32`, -1 for none).
/// Declare Description::top_k and block_size with a kTopK: they tell whether the context has more
/// blocks than are selected, without which a selection is not tested.
enum class OutputKind : std::int32_t { kBits = GRAPHSAN_OUTPUT, kTopK = GRAPHSAN_TOP_K };

/// Rows [first, last) where writes do not matter: a null page, a reserved slot.
using Rows = graphsan_rows;

/// A paged buffer: pages x page_size x heads x dim elements, the last dimension contiguous. Row r
/// lies in page r / page_size, slot r % page_size: that is the number in a slot mapping.
struct Cache {
  std::string name;  ///< unique, such as "layer 1 key"
  CacheKind kind = CacheKind::kKey;
  int layer = 0;
  DType dtype = DType::kBf16;
  std::int64_t pages = 0;
  std::int64_t page_size = 0;
  std::int64_t heads = 1;
  std::int64_t dim = 0;
  void* data = nullptr;  ///< row 0, head 0; from Host::allocate(), or device memory of yours
  std::int64_t page_stride = 0;  ///< bytes, like the next two; 0: contiguous
  std::int64_t slot_stride = 0;
  std::int64_t head_stride = 0;
  std::vector<Rows> sinks;
};

/// A result with one row a lane: lanes x heads x dim elements. GraphSan fills the first
/// Call::tokens lanes before a run and reads them after it, so the memory has as many at least.
struct Output {
  std::string name;
  OutputKind kind = OutputKind::kBits;
  int layer = 0;
  DType dtype = DType::kBf16;
  std::int64_t heads = 1;
  std::int64_t dim = 0;
  void* data = nullptr;          ///< lane 0
  std::int64_t lane_stride = 0;  ///< bytes; 0: contiguous
  std::int64_t head_stride = 0;
};

/// A buffer with one entry a lane that prepare() refills. Naming inputs is what tells a moved or
/// stale buffer from a missing write. GraphSan reads Call::lanes() lanes, and experiments write
/// them, so the memory has as many at least.
struct Input {
  std::string name;
  void* data = nullptr;  ///< lane 0, where this call's values are
  std::int64_t lane_bytes = 0;
  DType dtype = DType::kI64;
  bool is_activation = false;    ///< pad lanes hold values, not indices
  std::int64_t pad_value = -1;   ///< what a pad lane must hold where it is no activation
  std::int64_t lane_stride = 0;  ///< bytes; 0: contiguous
};

/// State that lives on from step to step and that no comparison restores: counters, workspaces.
struct State {
  std::string name;
  void* data = nullptr;
  std::int64_t bytes = 0;
};

/// What a step is. Its buffers stay where they are for the life of the step.
struct Description {
  std::string name;
  int steps = 0;  ///< batches to run, 2 at least: with inputs that never change nothing is proven
  std::vector<Cache> caches;
  std::vector<State> states;
  int top_k = 0;                ///< blocks that an indexer selects; 0: it selects none
  std::int64_t block_size = 0;  ///< keys of such a block
};

/// The batch of one step. `slots` has one entry a real lane: the row of key and value that the lane
/// must write, negative for none. Other vectors are empty or as long.
struct Batch {
  std::vector<std::int64_t> slots;
  int bucket = 0;  ///< lanes of the graph that serves it; 0: as many as there are slots
  std::vector<std::int64_t> index_slots;  ///< the same for index keys; empty: as slots
  std::vector<std::int32_t> sequences;    ///< empty: lane number
  std::vector<std::int64_t> positions;    ///< empty: unknown
  std::string kind = "decode";            ///< "decode", "prefill", "mixed"
  std::string eager_reason;  ///< set: the engine runs this step without a graph, and why
};

/// Which buffers and batch sizes a call uses.
enum class Arm : std::int32_t {
  kEager = GRAPHSAN_EAGER,               ///< exactly `tokens` lanes
  kPaddedEager = GRAPHSAN_PADDED_EAGER,  ///< the graph's buffers, padded to `bucket`, no graph
  kGraph = GRAPHSAN_GRAPH                ///< what is captured, and what replays read
};

/// What a warm-up or a capture knows of the batch.
enum class Metadata : std::int32_t {
  kLive = GRAPHSAN_METADATA_LIVE,
  kDummy = GRAPHSAN_METADATA_DUMMY,  ///< `bucket` pad lanes
  kNone = GRAPHSAN_METADATA_NONE     ///< as an engine that has no metadata while it captures
};

/// One call of prepare(), run() and their like.
struct Call {
  int step = -1;  ///< -1: no batch of the run
  Arm arm = Arm::kEager;
  int tokens = 0;
  int bucket = 0;
  Metadata metadata = Metadata::kLive;
  bool capturing = false;  ///< the stream captures: run() only
  void* stream = nullptr;  ///< cudaStream_t on CUDA

  /// Lanes that the call's buffers hold.
  [[nodiscard]] int lanes() const { return arm == Arm::kEager ? tokens : bucket; }
  /// Whether the call has a batch of the run.
  [[nodiscard]] bool live() const { return step >= 0; }
};

/// One captured piece of a step, then an op that runs eagerly after it at each replay.
struct Segment {
  void* graph = nullptr;  ///< cudaGraph_t; null: only an eager op
  void* exec = nullptr;   ///< cudaGraphExec_t made from it
  std::string eager_name;
  std::function<void(void* stream)> eager;  ///< empty: nothing follows
};

/// A capture that the step made itself. `keep` is dropped when its graphs are no longer needed.
struct OwnCapture {
  std::vector<Segment> segments;
  std::shared_ptr<void> keep;
};

}  // namespace graphsan

#endif  // GRAPHSAN_VALUES_HPP
