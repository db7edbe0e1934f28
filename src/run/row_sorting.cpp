#include "run/row_sorting.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "kvcache/row_hash.hpp"
#include "run/value_difference.hpp"

namespace graphsan::run {

namespace {

using model::Digest;
using model::OriginKind;
using model::Place;
using model::RowClass;

bool contains(const std::vector<std::int64_t>& sorted, std::int64_t row) {
  return std::binary_search(sorted.begin(), sorted.end(), row);
}

/// What the sets alone say of a row; empty where eager and graph did the same, and rightly.
std::optional<RowClass> classify(bool expected, bool in_eager, bool in_graph, bool same_bytes) {
  if (in_eager && in_graph) {
    if (!expected) return RowClass::kEagerStray;
    if (same_bytes) return std::nullopt;
    return RowClass::kWrongValue;
  }
  if (in_graph) return expected ? RowClass::kEagerMissing : RowClass::kStray;
  if (in_eager) return expected ? RowClass::kMissing : RowClass::kEagerStray;
  return RowClass::kEagerMissing;
}

class Sorter {
 public:
  explicit Sorter(const SortingInput& input) : in_{input}, caches_{*input.caches} {
    for (std::size_t step = 0; step < input.eager->steps.size(); ++step) {
      const StepLog& log = input.eager->steps[step];
      for (std::size_t i = 0; i < log.digests.size(); ++i) {
        written_[log.digests[i].value].push_back({step, log.changed[i]});
      }
    }
  }

  SortedRows sort();

 private:
  void sort_step(std::size_t step, SortedRows& out);
  void sort_cache(std::size_t step, int cache, SortedRows& out);
  void describe(model::RowDifference& row, std::size_t step, std::int64_t global) const;
  [[nodiscard]] model::Origin origin(const model::RowDifference& row, std::size_t step,
                                     std::int64_t global) const;
  [[nodiscard]] std::vector<Place> places(const model::RowDifference& row, std::size_t step) const;
  [[nodiscard]] std::int64_t slot_of(const model::Lane& lane, int cache) const;
  [[nodiscard]] int lane_of(std::size_t step, int cache, std::int64_t row) const;
  /// The row's token comes into being after `step` only.
  [[nodiscard]] bool written_later(std::size_t step, const model::RowDifference& row) const;
  [[nodiscard]] bool padded_eager_shows(std::size_t step, std::int64_t global) const;

  /// The difference in one row, with both arms' bytes, or nothing.
  [[nodiscard]] std::optional<model::RowDifference> difference(std::size_t step, int cache,
                                                               std::int64_t row,
                                                               bool expected) const;
  void keep(model::RowDifference row, std::size_t step, SortedRows& out) const;

  /// A row that eager wrote in a step.
  struct Written {
    std::size_t step;
    std::int64_t row;  ///< global
  };

  const SortingInput& in_;
  const kvcache::CacheSet& caches_;
  std::unordered_map<std::uint64_t, std::vector<Written>> written_;  ///< by digest, in step order
};

std::int64_t Sorter::slot_of(const model::Lane& lane, int cache) const {
  const model::CacheKind kind = caches_.views()[static_cast<std::size_t>(cache)].layout.kind;
  return kind == model::CacheKind::kIndexKey ? lane.index_slot : lane.slot;
}

int Sorter::lane_of(std::size_t step, int cache, std::int64_t row) const {
  const std::vector<model::Lane>& lanes = (*in_.steps)[step].lanes;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].real && slot_of(lanes[lane], cache) == row) return static_cast<int>(lane);
  }
  return -1;
}

bool Sorter::padded_eager_shows(std::size_t step, std::int64_t global) const {
  if (in_.padded_eager == nullptr) return false;
  const StepLog& eager = in_.eager->steps[step];
  const StepLog& padded = in_.padded_eager->steps[step];
  const StepLog& graph = in_.graph->steps[step];
  const std::ptrdiff_t in_padded = padded.find(global);
  const std::ptrdiff_t in_eager = eager.find(global);
  const std::ptrdiff_t in_graph = graph.find(global);
  if ((in_padded >= 0) != (in_graph >= 0)) return false;
  if (in_padded < 0) return in_eager >= 0;
  // A stray of both is the same however its bytes came about: several pad lanes may write one row,
  // in any order.
  if (in_eager < 0) return true;
  const Digest shown = padded.digests[static_cast<std::size_t>(in_padded)];
  return shown == graph.digests[static_cast<std::size_t>(in_graph)] &&
         shown != eager.digests[static_cast<std::size_t>(in_eager)];
}

model::Origin Sorter::origin(const model::RowDifference& row, std::size_t step,
                             std::int64_t global) const {
  model::Origin origin;
  std::vector<std::pair<model::Origin, std::string>> fits;
  const auto fit = [&](OriginKind kind, std::int64_t from_row, int from_step, int lane,
                       const std::string& words) {
    const model::Origin made{
        .kind = kind, .row = from_row, .step = from_step, .lane = lane, .also = {}};
    fits.emplace_back(made, words);
  };
  if (row.row_class == RowClass::kMissing || row.row_class == RowClass::kEagerMissing) {
    fit(OriginKind::kUntouched, -1, -1, -1, "untouched");
  }
  const std::int64_t first = caches_.first_row(row.cache);
  const auto last = first + caches_.views()[static_cast<std::size_t>(row.cache)].layout.rows();
  const auto written = written_.find(row.graph.value);
  if (written != written_.end()) {
    // The latest write is the likeliest origin.
    for (auto it = written->second.rbegin(); it != written->second.rend(); ++it) {
      if (it->step > step || it->row < first || it->row >= last) continue;
      const std::int64_t other = it->row - first;
      const int lane = lane_of(it->step, row.cache, other);
      if (it->step == step && it->row == global) {
        fit(OriginKind::kThisRow, -1, -1, lane, "this row");
      } else if (it->step == step) {
        fit(OriginKind::kOtherRow, other, -1, lane, "this step's row " + std::to_string(other));
      } else {
        fit(OriginKind::kEarlierStep, other, static_cast<int>(it->step), lane,
            "row " + std::to_string(other) + " of step " + std::to_string(it->step));
      }
    }
  }
  const auto lanes = in_.lane_rows.find({static_cast<int>(step), row.cache});
  if (lanes != in_.lane_rows.end()) {
    const std::vector<model::Lane>& batch = (*in_.steps)[step].lanes;
    for (std::size_t lane = 0; lane < lanes->second.size() && lane < batch.size(); ++lane) {
      if (batch[lane].real || lanes->second[lane] != row.graph_bytes) continue;
      fit(OriginKind::kPadLane, -1, -1, static_cast<int>(lane), "pad lane " + std::to_string(lane));
    }
  }
  if (fits.empty()) return origin;
  origin = fits.front().first;
  for (std::size_t i = 1; i < fits.size(); ++i) origin.also.push_back(fits[i].second);
  return origin;
}

bool Sorter::written_later(std::size_t step, const model::RowDifference& row) const {
  for (std::size_t i = step; i < in_.steps->size(); ++i) {
    if (lane_of(i, row.cache, row.row) >= 0) return true;
  }
  return false;
}

std::vector<Place> Sorter::places(const model::RowDifference& row, std::size_t step) const {
  const model::CacheLayout& layout = caches_.views()[static_cast<std::size_t>(row.cache)].layout;
  std::vector<Place> places;
  if (layout.kind == model::CacheKind::kGuard) return {Place::kGuardZone};
  if (row.row == layout.rows() - 1) places.push_back(Place::kLastRow);
  if (layout.page_of(row.row) == 0) places.push_back(Place::kNullPage);
  for (std::size_t i = 0; i < step; ++i) {
    if (lane_of(i, row.cache, row.row) >= 0) {
      places.push_back(Place::kEarlierBatch);
      break;
    }
  }
  if (row.owner && !written_later(step, row)) places.push_back(Place::kLiveRow);
  if (places.empty()) places.push_back(Place::kOrdinary);
  return places;
}

void Sorter::describe(model::RowDifference& row, std::size_t step, std::int64_t global) const {
  const model::CacheLayout& layout = caches_.views()[static_cast<std::size_t>(row.cache)].layout;
  row.lane = lane_of(step, row.cache, row.row);
  if (row.lane >= 0) {
    const model::Lane& lane = (*in_.steps)[step].lanes[static_cast<std::size_t>(row.lane)];
    row.owner = model::LogicalRow{lane.sequence, lane.position, layout.layer, layout.kind};
  } else if (in_.owner) {
    row.owner = in_.owner(row.cache, row.row);
  }
  row.padded_eager_shows_it = padded_eager_shows(step, global);
  if (!row.eager_bytes.empty() && !row.graph_bytes.empty()) {
    row.value = value_difference(layout.dtype, row.eager_bytes, row.graph_bytes);
  }
  row.origin = origin(row, step, global);
  row.places = places(row, step);
}

std::optional<model::RowDifference> Sorter::difference(std::size_t step, int cache,
                                                       std::int64_t local, bool expected) const {
  const StepLog& eager = in_.eager->steps[step];
  const StepLog& graph = in_.graph->steps[step];
  const std::int64_t global = caches_.first_row(cache) + local;
  const std::ptrdiff_t in_eager = eager.find(global);
  const std::ptrdiff_t in_graph = graph.find(global);
  model::RowDifference row;
  row.step = static_cast<int>(step);
  row.cache = cache;
  row.row = local;
  if (in_eager >= 0) row.eager = eager.digests[static_cast<std::size_t>(in_eager)];
  if (in_graph >= 0) row.graph = graph.digests[static_cast<std::size_t>(in_graph)];
  const std::optional<RowClass> row_class =
      classify(expected, in_eager >= 0, in_graph >= 0, row.eager == row.graph);
  if (!row_class) return std::nullopt;
  row.row_class = *row_class;
  if (in_eager >= 0) row.eager_bytes = eager.bytes[static_cast<std::size_t>(in_eager)];
  if (in_graph >= 0) {
    row.graph_bytes = graph.bytes[static_cast<std::size_t>(in_graph)];
  } else if (expected && in_.pattern) {
    // Not written: the pattern is what a reader finds there.
    const model::CacheLayout& layout = caches_.views()[static_cast<std::size_t>(cache)].layout;
    row.graph_bytes =
        in_.pattern(global, static_cast<std::size_t>(layout.row_bytes()), static_cast<int>(step));
    row.graph = kvcache::row_digest(row.graph_bytes);
  }
  return row;
}

void Sorter::keep(model::RowDifference row, std::size_t step, SortedRows& out) const {
  if (out.rows.size() >= in_.max_rows) {
    ++out.dropped;
    return;
  }
  if (in_.explain) describe(row, step, caches_.global_row(row.cache, row.row));
  if (out.rows.size() >= in_.max_rows_with_bytes) {
    row.eager_bytes.clear();
    row.graph_bytes.clear();
  }
  out.rows.push_back(std::move(row));
}

void Sorter::sort_cache(std::size_t step, int cache, SortedRows& out) {
  const StepLog& eager = in_.eager->steps[step];
  const StepLog& graph = in_.graph->steps[step];
  const model::CacheLayout& layout = caches_.views()[static_cast<std::size_t>(cache)].layout;
  const std::int64_t first = caches_.first_row(cache);
  const auto own = [&](const std::vector<std::int64_t>& rows) {
    const auto begin = std::lower_bound(rows.begin(), rows.end(), first);
    const auto end = std::lower_bound(rows.begin(), rows.end(), first + layout.rows());
    std::vector<std::int64_t> local;
    for (auto it = begin; it != end; ++it) local.push_back(*it - first);
    return local;
  };
  model::WriteSets sets{.step = static_cast<int>(step),
                        .cache = cache,
                        .expected = own(eager.expected),
                        .eager = own(eager.changed),
                        .padded_eager = {},
                        .graph = own(graph.changed)};
  if (in_.padded_eager != nullptr) sets.padded_eager = own(in_.padded_eager->steps[step].changed);
  std::set<std::int64_t> rows{sets.expected.begin(), sets.expected.end()};
  rows.insert(sets.eager.begin(), sets.eager.end());
  rows.insert(sets.graph.begin(), sets.graph.end());
  out.compared += rows.size();
  for (const std::int64_t local : rows) {
    const bool expected = contains(sets.expected, local);
    if (!expected && layout.is_sink(local)) {
      ++sets.sink_writes;
      continue;
    }
    if (auto row = difference(step, cache, local, expected)) keep(std::move(*row), step, out);
  }
  out.sink_writes += sets.sink_writes;
  out.writes.push_back(std::move(sets));
}

void Sorter::sort_step(std::size_t step, SortedRows& out) {
  for (int cache = 0; cache < static_cast<int>(caches_.views().size()); ++cache) {
    sort_cache(step, cache, out);
  }
}

SortedRows Sorter::sort() {
  SortedRows out;
  for (std::size_t step = 0; step < in_.steps->size(); ++step) {
    if ((*in_.steps)[step].covered) {
      sort_step(step, out);
    } else {
      out.left_out += in_.eager->steps[step].expected.size();
    }
  }
  return out;
}

}  // namespace

SortedRows sort_rows(const SortingInput& input) { return Sorter{input}.sort(); }

}  // namespace graphsan::run
