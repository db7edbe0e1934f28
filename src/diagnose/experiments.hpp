#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::diagnose {

/// Rows whose fate an experiment follows: (step, cache, row) of differences that a suspicion names.
struct RowKey {
  int step = 0;
  int cache = 0;
  std::int64_t row = 0;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

/// What a controlled change did to the rows: how many of those named became right, with the change
/// and in the sham.
struct Outcome {
  std::uint64_t rows = 0;
  std::uint64_t right_with_change = 0;
  std::uint64_t right_in_sham = 0;
  int repeats = 0;
  std::vector<std::string> observations;  ///< facts in words, for evidence
  /// The change made every named row right, in all repeats, and the sham none.
  [[nodiscard]] bool confirms() const {
    return rows > 0 && repeats > 0 && right_with_change == rows && right_in_sham == 0;
  }
};

struct NotRunnable {
  std::string reason;
};

using ExperimentResult = std::variant<Outcome, NotRunnable>;

/// Controlled changes to a captured step, each with its sham. Every call restores the state before
/// it; nothing is run until a probe asks.
class Experiments {
 public:
  virtual ~Experiments() = default;
  /// Captures again with the live metadata of each step, replays, and looks at the rows. Sham:
  /// captures again with the metadata of the first capture. A row that holds what the padded batch
  /// run eagerly writes counts as right: what is wrong with it is padding's doing.
  [[nodiscard]] virtual ExperimentResult capture_with_live_metadata(
      std::span<const RowKey> rows) = 0;
  /// Replays the same bucket with all lanes real, so that no pad lane exists. Sham: replays again
  /// with the padding as it was.
  [[nodiscard]] virtual ExperimentResult fill_bucket(std::span<const RowKey> rows) = 0;
  /// Overwrites the pad lanes' activations with a pattern. Counts rows that took the pattern as
  /// `right_with_change`; sham: rows that changed between two replays without it.
  [[nodiscard]] virtual ExperimentResult poison_pad_lanes(std::span<const RowKey> rows) = 0;
  /// Adds an edge between consecutive nodes in creation order. Sham: the clone without new edges.
  [[nodiscard]] virtual ExperimentResult serialise(std::span<const RowKey> rows) = 0;
  /// Captures twice with the same inputs and once with others. `observations` list the words that
  /// moved; `rows` counts nodes compared, `right_with_change` those without a frozen word.
  [[nodiscard]] virtual ExperimentResult second_capture() = 0;
};

}  // namespace graphsan::diagnose
