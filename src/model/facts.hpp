#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cache_layout.hpp"
#include "model/digest.hpp"
#include "model/graph.hpp"

namespace graphsan::model {

/// One lane of a step's batch.
struct Lane {
  bool real = false;  ///< false: a pad lane
  int sequence = -1;
  std::int64_t position = -1;
  std::int64_t slot = -1;  ///< row that main K/V of this lane must get; negative: none
  std::int64_t index_slot = -1;
};

/// One step as it was run: its batch and whether the mode replays a graph for it.
struct StepFacts {
  int step = 0;
  std::string batch;  ///< `decode`, `prefill` or `mixed`
  int tokens = 0;     ///< real lanes
  int bucket = 0;     ///< lanes of the graph that ran, pads included
  bool covered = false;
  std::string uncovered_reason;
  std::vector<Lane> lanes;
  std::uint64_t input_digest = 0;  ///< over the real lanes' inputs; differs when inputs changed
  int replayed_nodes = 0;          ///< nodes over the segments replayed for this step
  bool nonce_overwritten = false;  ///< every output's nonce was overwritten by the replay
};

/// The rows of one cache in one step: named by the slot mapping (X), changed by eager (E), by
/// padded-eager (P), by the graph (G). Sorted.
struct WriteSets {
  int step = 0;
  int cache = 0;
  std::vector<std::int64_t> expected;
  std::vector<std::int64_t> eager;
  std::vector<std::int64_t> padded_eager;
  std::vector<std::int64_t> graph;
  std::uint64_t sink_writes = 0;
};

enum class RowClass : std::uint8_t { kMissing, kStray, kWrongValue, kEagerStray, kEagerMissing };
[[nodiscard]] std::string_view to_string(RowClass row_class);
[[nodiscard]] std::optional<RowClass> parse_row_class(std::string_view word);

/// Where the bytes found in a row come from, looked up by digest in what eager wrote.
enum class OriginKind : std::uint8_t {
  kUnknown,
  kUntouched,  ///< the pattern, or what was there before the step
  kThisRow,
  kOtherRow,     ///< this step's bytes of another row: a misplaced pair
  kEarlierStep,  ///< this lane's bytes of an earlier step: stale
  kPadLane
};
[[nodiscard]] std::string_view to_string(OriginKind kind);
[[nodiscard]] std::optional<OriginKind> parse_origin_kind(std::string_view word);

struct Origin {
  OriginKind kind = OriginKind::kUnknown;
  std::int64_t row = -1;          ///< kOtherRow
  int step = -1;                  ///< kEarlierStep
  int lane = -1;                  ///< kPadLane, kEarlierStep
  std::vector<std::string> also;  ///< further origins that fit equally well, in words
};

/// How the bytes of two rows differ as numbers.
enum class ValueKind : std::uint8_t {
  kNone,
  kConstantRatio,
  kRounding,
  kNonFinite,
  kArbitrary,
  kOtherDtype  ///< the graph's bytes decode to eager's values as another dtype of the same width
};
[[nodiscard]] std::string_view to_string(ValueKind kind);
[[nodiscard]] std::optional<ValueKind> parse_value_kind(std::string_view word);

struct ValueDifference {
  ValueKind kind = ValueKind::kNone;
  double ratio = 0.0;  ///< kConstantRatio: graph / eager
  std::int64_t max_code_distance = 0;
  std::uint64_t elements = 0;  ///< elements that differ
};

/// Something worth saying about a stray row's place.
enum class Place : std::uint8_t {
  kOrdinary,
  kLastRow,
  kNullPage,
  kLiveRow,       ///< belongs to a live sequence
  kEarlierBatch,  ///< was written by an earlier step
  kGuardZone
};
[[nodiscard]] std::string_view to_string(Place place);
[[nodiscard]] std::optional<Place> parse_place(std::string_view word);

/// One row of one cache that differs between eager and graph in one step.
struct RowDifference {
  int step = 0;
  int cache = 0;
  std::int64_t row = 0;
  RowClass row_class = RowClass::kMissing;
  Origin origin;
  std::vector<Place> places;
  std::optional<LogicalRow> owner;  ///< the token that the row belongs to
  int lane = -1;                    ///< lane that the row was written for, or -1
  bool padded_eager_shows_it = false;
  Digest eager;
  Digest graph;
  ValueDifference value;
  std::vector<std::byte> eager_bytes;  ///< logical order; may be dropped beyond a limit
  std::vector<std::byte> graph_bytes;
};

/// How a top-k set of the graph differs from eager's.
enum class TopKKind : std::uint8_t {
  kOutOfRange,
  kDuplicate,
  kTrivial,    ///< the first k or the newest k blocks
  kOtherLane,  ///< equal to another lane's set
  kEarlier,    ///< equal to an earlier step's set of this lane
  kTie,        ///< swapped ids have equal scores in eager
  kMismatch
};
[[nodiscard]] std::string_view to_string(TopKKind kind);
[[nodiscard]] std::optional<TopKKind> parse_topk_kind(std::string_view word);

/// One (lane, head) whose selected blocks differ. Scores are eager's and the graph's for the ids
/// in the order of `only_eager` then `only_graph`.
struct TopKDifference {
  int step = 0;
  int layer = 0;
  int lane = 0;
  int head = 0;
  bool carried = false;  ///< seen in the carried pass
  TopKKind kind = TopKKind::kMismatch;
  std::vector<int> eager_ids;  ///< sorted
  std::vector<int> graph_ids;
  std::vector<int> only_eager;
  std::vector<int> only_graph;
  std::vector<float> eager_scores;
  std::vector<float> graph_scores;
  float margin = 0;  ///< eager: smallest score of only_eager minus largest of only_graph
  /// The reference indexer on the graph's cache gives the graph's selection: the indexer is sound.
  std::optional<bool> reproduced_from_graph_cache;
  bool padded_eager_shows_it = false;  ///< the padded batch run eagerly selects the same
};

/// A real lane's output (all heads) that differs.
struct OutputDifference {
  int step = 0;
  int layer = 0;
  int lane = 0;
  bool carried = false;
  double max_abs = 0;
  double mean_rel = 0;  ///< mean |graph - eager| / mean |eager|
  std::int64_t max_code_distance = 0;
  bool non_finite = false;
  std::optional<bool> reproduced_from_graph_cache;
  bool padded_eager_shows_it = false;  ///< the padded batch run eagerly gives the same bytes
};

enum class ChainStage : std::uint8_t {
  kIndexKeyWrite,
  kKeyValueWrite,
  kScore,
  kTopK,
  kBlocksRead,
  kOutput,
  kNextLayer
};
[[nodiscard]] std::string_view to_string(ChainStage stage);
[[nodiscard]] std::optional<ChainStage> parse_chain_stage(std::string_view word);

/// One link of `index-K write → score → top-k → blocks read → output → next layer`.
struct ChainLink {
  ChainStage stage = ChainStage::kIndexKeyWrite;
  bool broken = false;
  bool first = false;  ///< the first broken link; later ones are consequences
  int step = -1;       ///< where it broke first
  int layer = -1;
  std::string detail;
};

/// State that capture (with its warm-up) changed, and what became of it.
struct CaptureChange {
  int cache = 0;
  std::vector<std::int64_t> rows;
  bool overwritten_by_history = false;
  std::string note;
};

/// Did eager agree with itself?
struct Stability {
  bool ran = false;
  bool stable = false;
  std::uint64_t rows_differing = 0;
  double max_noise = 0;  ///< largest score difference between two equal eager runs
  std::vector<std::string> unstable_caches;
};

/// Error of the arithmetic itself, against the unquantised computation.
struct ErrorBudget {
  DType dtype = DType::kBf16;
  double spread = 1.0;             ///< standard deviation of the attention logits
  double round_trip_mean_rel = 0;  ///< mean |decode(encode(x)) - x| / |x|
  double attention_mean_rel = 0;   ///< mean |out - exact| / mean |exact|
  double round_trip_expected = 0;  ///< what is normal for this dtype on normal data
  bool normal = false;
  std::vector<std::uint64_t> histogram;  ///< relative error, 16 bins of equal width up to 0.25
};

/// A named buffer that the graph reads and the step refills: address when captured and at replay,
/// and what it held, at the first diverging step.
struct InputFacts {
  std::string name;
  std::uint64_t captured_address = 0;
  std::uint64_t replay_address = 0;
  bool contents_equal_eager = true;  ///< real lanes
  bool is_activation = false;
  int contents_of_step = -1;       ///< other step whose eager contents were found there
  bool submitted_differs = false;  ///< what the host submitted is not what was found
  int pad_lanes = 0;
  int pads_unset = 0;         ///< pad lanes whose index entry is not the neutral value
  int pads_from_earlier = 0;  ///< of those, entries that an earlier step's lane had
};

/// State that belongs to the step (counters, workspaces, scales), just before each covered step was
/// replayed.
struct OpaqueFacts {
  std::string name;
  std::uint64_t bytes = 0;
  bool differs_from_start = false;  ///< at some step, from before the first replay
  bool differs_from_eager = false;  ///< at some step, from the padded-eager arm before it
};

/// A captured graph of the same bucket that was not replayed.
struct OtherGraph {
  std::uint64_t nodes = 0;
  bool same_structure = false;       ///< node types, names and grids in order
  std::vector<std::string> kernels;  ///< in creation order
};

/// Two nodes that no path of edges orders and that touch one buffer, at least one writing it.
struct UnorderedPair {
  int segment = 0;
  int first = 0;  ///< node ids, in creation order
  int second = 0;
  std::string buffer;
  /// A node's author declared that it writes the buffer; else one is foreign code that may.
  bool declared = true;
};

/// Where the eager arm itself differs from the reference ops on the same inputs.
struct ReferenceDifference {
  int step = 0;
  CacheKind cache = CacheKind::kOther;  ///< key, value, index-key; top-k; output
  int layer = 0;
  int lane = 0;
  std::int64_t row = -1;  ///< of a cache
  ValueDifference value;  ///< as the reference's `eager` against the eager arm's `graph`
};

/// Everything that a recogniser may know about one case: plain values, no device, no step.
struct Facts {
  std::vector<CacheLayout> caches;
  std::vector<std::string> cache_buffers;  ///< name of the allocation that holds each cache
  std::vector<StepFacts> steps;
  std::vector<WriteSets> writes;
  std::vector<RowDifference> rows;  ///< ordered by step, cache, row; local pass only
  std::uint64_t rows_dropped = 0;   ///< differences counted but not listed
  std::vector<TopKDifference> top_k;
  std::vector<OutputDifference> outputs;
  std::vector<ChainLink> chain;
  std::vector<CaptureChange> capture_changes;
  std::vector<GraphSegment> segments;  ///< of the graph that the first diverging step replayed
  std::vector<Work> eager_launches;    ///< of that step in the eager arm
  std::vector<Alignment> alignment;
  std::vector<Work> padded_launches;        ///< of that step in the padded-eager arm
  std::vector<Alignment> padded_alignment;  ///< the segments beside those
  /// `padded_launches` are what a second capture, of that step's own batch, records: nobody sees
  /// the arguments with which foreign code launches.
  bool padded_launches_captured = false;
  std::vector<Work> escaped;  ///< launched while a capture ran, outside it and outside breaks
  std::vector<InputFacts> inputs;
  std::vector<OpaqueFacts> opaque;
  std::vector<OtherGraph> other_graphs;
  std::vector<UnorderedPair> unordered;
  bool reference_ran = false;
  std::vector<ReferenceDifference> reference;
  Stability stability;
  std::string capture_metadata;  ///< `none`, `dummy` or `live`
  bool padded_eager_ran = false;
  std::uint64_t rows_compared = 0;
  std::uint64_t rows_left_out = 0;
  std::uint64_t replays = 0;
  std::uint64_t nodes = 0;  ///< over the segments of the graphs that were replayed
};

/// A row with other bytes in a layer after one whose output already differs in the same step: it
/// follows from that output and is no damage of its own.
[[nodiscard]] bool is_consequence(const Facts& facts, const RowDifference& row);
/// A selection of the local pass that the reference indexer reproduces from the graph's cache, or
/// that comes after another difference of its step: it follows from that.
[[nodiscard]] bool is_consequence(const Facts& facts, const TopKDifference& difference);
/// An output of the local pass that follows in the same way from rows, selections or outputs
/// before.
[[nodiscard]] bool is_consequence(const Facts& facts, const OutputDifference& difference);

}  // namespace graphsan::model
