#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "kvcache/cache_set.hpp"
#include "model/facts.hpp"
#include "run/arm_log.hpp"

namespace graphsan::run {

/// What the sorter needs beside the logs.
struct SortingInput {
  const kvcache::CacheSet* caches = nullptr;
  const std::vector<model::StepFacts>* steps = nullptr;
  const ArmLog* eager = nullptr;
  const ArmLog* padded_eager = nullptr;  ///< null where the arm did not run
  const ArmLog* graph = nullptr;
  /// Seed of the pattern that step `step` placed in the rows to be written.
  std::function<std::vector<std::byte>(std::int64_t global_row, std::size_t bytes, int step)>
      pattern;
  /// Bytes that each lane of the graph's batch would write into a cache at a step, or empty.
  std::map<std::pair<int, int>, std::vector<std::vector<std::byte>>> lane_rows;  ///< (step, cache)
  /// The live token that a row belongs to, as Step::owner() gives it.
  std::function<std::optional<model::LogicalRow>(int cache, std::int64_t row)> owner;
  std::size_t max_rows = std::size_t{1} << 20;  ///< differences listed; more are only counted
  std::size_t max_rows_with_bytes = 4096;       ///< the first of them keep both arms' bytes
  bool explain = true;  ///< look up origins, owners and places; off where only the rows matter
};

/// The rows in which eager and graph differ, sorted by step, cache and row.
struct SortedRows {
  std::vector<model::WriteSets> writes;
  std::vector<model::RowDifference> rows;
  std::uint64_t dropped = 0;
  std::uint64_t compared = 0;  ///< rows of X, E and G over all covered steps
  std::uint64_t left_out = 0;  ///< rows of X of steps that replayed no graph
  std::uint64_t sink_writes = 0;
};

/// Sorts every row of E and G of every covered step by the rules of docs/how-it-works.md, "Sorting
/// a row", and looks up where its bytes come from.
[[nodiscard]] SortedRows sort_rows(const SortingInput& input);

}  // namespace graphsan::run
