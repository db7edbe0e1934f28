#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::diagnose {

enum class SpotKind : std::uint8_t { kRow, kOutput, kSelection };

/// A difference whose fate an experiment follows. Outputs and selections: `cache` is the layer and
/// `row` the lane.
struct RowKey {
  int step = 0;
  int cache = 0;
  std::int64_t row = 0;
  SpotKind kind = SpotKind::kRow;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

/// A controlled change to a captured step. Each says what its sham is; `names` and `nodes` are
/// those of Intervention.
enum class Change : std::uint8_t {
  /// A fresh capture for each failing step with that step's live metadata and inputs, replayed for
  /// that step. Sham: a fresh capture as before.
  kLiveCapture,
  /// All lanes of the bucket real. Sham: the same procedure with the padding kept.
  kFillBucket,
  /// Zeros, then large finite values, then NaN in the pad lanes' activations. Sham: zeros twice.
  /// Effect: rows that change.
  kPoisonPadLanes,
  /// Pad lanes' entries in the named index inputs (all where none is named) set to the neutral
  /// value. Sham: the entries written back as they are.
  kNeutralPadMetadata,
  /// Edges between consecutive nodes in creation order. Sham: the clone without new edges.
  kSerialise,
  /// The named scalar fields (`grid` for the grid; all that differ where none is named) of the
  /// given nodes set to what the padded-eager arm passes in that step. Sham: set to what they are.
  kPatchScalars,
  /// The same, where earlier damage spoils the rows too and no word alone can make them right.
  /// Sham:
  /// the fields set to what they are. Effect: what changes, which can support a suspicion and not
  /// confirm it.
  kTryScalars,
  /// The named pointer fields of the given nodes set to the buffers that the padded-eager arm
  /// passes in that step. Sham: set to what they are.
  kPatchPointers,
  /// As kPoisonPadLanes, for what must not depend on pad lanes. Effect: what does not change.
  kPadLanesDoNotMatter,
  /// The captured addresses of the named inputs filled with what the eager arms hold there in that
  /// step. Sham: filled with what they hold.
  kRefreshInputs,
  /// The sources of the given copy nodes pointed at a buffer with what the padded-eager arm copied
  /// in that step. Sham: at a buffer with what the source holds.
  kReplaceCopySources,
  /// The named opaque buffers (all where none is named) put back before each replay to their state
  /// before the first. Sham: written back as they are.
  kRestoreOpaque,
  /// The named opaque buffers given, before each replay, what they hold in the padded-eager arm
  /// before that step. Sham: written back as they are.
  kOpaqueFromEager,
  /// Carried pass from a state that capture has not touched. Sham: carried pass as before.
  kRestoreAfterCapture,
  /// A capture whose freed memory is not used again while it lives. Sham: a capture as before.
  kKeepFreed,
  /// Two patterns in the free blocks before each replay. Sham: the same pattern twice. Effect: what
  /// changes; what does not is not counted.
  kPoisonFreed,
  /// The same with the blocks of the graph pool.
  kPoisonGraphPool,
  /// Another captured graph of the same bucket replayed. Sham: the graph that was chosen.
  kOtherGraph,
  /// Every copy from host memory waited for, as if launches were blocking. Sham: as before.
  kWaitForCopies,
  /// The launches that escaped the capture issued after each replay, and the graph run once more.
  /// Sham: the graph run once more without them.
  kRelaunchEscaped,
  /// Each step prepared and run twice: eager draws anew (that is the effect), the graph repeats
  /// itself (else the effect is 0). Sham: the first run compared with itself.
  kDrawAgain
};

/// How reports name the change, and its sham.
[[nodiscard]] std::string_view name_of(Change change);
[[nodiscard]] std::string_view sham_name_of(Change change);
/// The effect counted is a difference that changes, not one that becomes right.
[[nodiscard]] bool counts_changes(Change change);

/// A node of the graph that Facts::segments shows.
struct NodeOf {
  int segment = 0;
  int node = 0;
  friend bool operator==(const NodeOf&, const NodeOf&) = default;
};

struct Intervention {
  Change change = Change::kLiveCapture;
  std::vector<std::string> names;  ///< inputs, opaque buffers or argument fields
  std::vector<NodeOf> nodes;
};

/// What a controlled change did: how many of the differences it hit, with the change and in the
/// sham. Hit: became right, or changed where counts_changes().
struct Outcome {
  std::uint64_t rows = 0;
  std::uint64_t hit_with_change = 0;
  std::uint64_t hit_in_sham = 0;
  int repeats = 0;
  bool supports_only = false;             ///< a hit supports the suspicion, and cannot confirm it
  std::vector<std::string> observations;  ///< facts in words, for evidence
  /// The change hit every one, in all repeats, and the sham none.
  [[nodiscard]] bool confirms() const {
    return !supports_only && rows > 0 && repeats > 0 && hit_with_change == rows && hit_in_sham == 0;
  }
  /// The change hit some, and the sham none.
  [[nodiscard]] bool supports() const {
    return supports_only && hit_with_change > 0 && hit_in_sham == 0;
  }
};

struct NotRunnable {
  std::string reason;
};

using ExperimentResult = std::variant<Outcome, NotRunnable>;

/// The last node, in serial order, that changes a row, and how many replays of prefixes it took to
/// find it.
struct Writer {
  NodeOf node;
  int replays = 0;
};

/// Runs controlled changes on a captured step, each with its sham. Every call restores the state
/// before it; nothing is run until a probe asks.
class Experiments {
 public:
  virtual ~Experiments() = default;
  [[nodiscard]] virtual ExperimentResult run(const Intervention& intervention,
                                             std::span<const RowKey> rows) = 0;
  /// Finds the node by replaying prefixes of the graph with the other nodes disabled; empty where
  /// no node does it (a break may), or where it cannot be run.
  [[nodiscard]] virtual std::optional<Writer> writer_of(const RowKey& /*row*/) {
    return std::nullopt;
  }
};

}  // namespace graphsan::diagnose
