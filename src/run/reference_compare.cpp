#include "run/reference_compare.hpp"

#include <algorithm>
#include <cstring>

#include "run/value_difference.hpp"

namespace graphsan::run {

namespace {

class Comparison {
 public:
  Comparison(const kvcache::CacheSet& caches, const std::vector<model::StepFacts>& steps)
      : caches_{caches}, steps_{steps} {}

  void compare(const StepLog& log) {
    rows(log);
    outputs(log);
    selections(log);
  }
  std::vector<model::ReferenceDifference> take() { return std::move(out_); }

 private:
  void rows(const StepLog& log) {
    const std::vector<model::Lane>& lanes = steps_[static_cast<std::size_t>(log.step)].lanes;
    for (const auto& [cache, wanted] : log.lane_rows) {
      const model::CacheLayout& layout = caches_.views()[static_cast<std::size_t>(cache)].layout;
      for (std::size_t lane = 0; lane < std::min(wanted.size(), lanes.size()); ++lane) {
        const bool index = layout.kind == model::CacheKind::kIndexKey;
        const std::int64_t row = index ? lanes[lane].index_slot : lanes[lane].slot;
        if (!lanes[lane].real || row < 0) continue;
        const std::ptrdiff_t at = log.find(caches_.global_row(cache, row));
        if (at < 0) continue;  // an absent write is eager-missing, which is said elsewhere
        add(log.step, layout, static_cast<int>(lane), row, wanted[lane],
            log.bytes[static_cast<std::size_t>(at)]);
      }
    }
  }

  void outputs(const StepLog& log) {
    for (const OutputRows& output : log.outputs) {
      if (output.layout.kind != model::CacheKind::kOutput) continue;
      for (std::size_t lane = 0; lane < output.lanes.size(); ++lane) {
        const std::vector<std::byte>* wanted = log.attended_lane(output, lane);
        if (wanted == nullptr) continue;
        add(log.step, output.layout, static_cast<int>(lane), -1, *wanted, output.lanes[lane]);
      }
    }
  }

  void selections(const StepLog& log) {
    std::size_t next = 0;
    for (const OutputRows& output : log.outputs) {
      if (output.layout.kind != model::CacheKind::kTopK) continue;
      if (next == log.selections.size()) return;
      const step::ReferenceSelection& wanted = log.selections[next++];
      for (std::size_t lane = 0; lane < output.lanes.size(); ++lane) {
        if (!holds_selection(wanted, output, lane) || same_selection(wanted, output, lane))
          continue;
        out_.push_back({.step = log.step,
                        .cache = model::CacheKind::kTopK,
                        .layer = output.layout.layer,
                        .lane = static_cast<int>(lane),
                        .row = -1,
                        .value = {.kind = model::ValueKind::kArbitrary}});
      }
    }
  }

  /// An output of another shape than the reference's selection holds something else.
  [[nodiscard]] static bool holds_selection(const step::ReferenceSelection& wanted,
                                            const OutputRows& output, std::size_t lane) {
    return lane < static_cast<std::size_t>(wanted.lanes) &&
           output.lanes[lane].size() == static_cast<std::size_t>(wanted.heads) *
                                            static_cast<std::size_t>(wanted.k) *
                                            sizeof(std::int32_t);
  }

  [[nodiscard]] static bool same_selection(const step::ReferenceSelection& wanted,
                                           const OutputRows& output, std::size_t lane) {
    const auto k = static_cast<std::size_t>(wanted.k);
    for (std::size_t head = 0; head < static_cast<std::size_t>(wanted.heads); ++head) {
      const std::size_t first = (head * static_cast<std::size_t>(wanted.lanes) + lane) * k;
      const std::byte* found = output.lanes[lane].data() + head * k * sizeof(std::int32_t);
      std::vector<std::int32_t> ids(k);
      std::memcpy(ids.data(), found, k * sizeof(std::int32_t));
      std::vector<std::int32_t> right(wanted.ids.begin() + static_cast<std::ptrdiff_t>(first),
                                      wanted.ids.begin() + static_cast<std::ptrdiff_t>(first + k));
      std::sort(ids.begin(), ids.end());
      std::sort(right.begin(), right.end());
      if (ids != right) return false;
    }
    return true;
  }

  void add(int step, const model::CacheLayout& layout, int lane, std::int64_t row,
           const std::vector<std::byte>& wanted, const std::vector<std::byte>& found) {
    if (wanted.empty() || wanted == found) return;
    out_.push_back({.step = step,
                    .cache = layout.kind,
                    .layer = layout.layer,
                    .lane = lane,
                    .row = row,
                    .value = value_difference(layout.dtype, wanted, found)});
  }

  const kvcache::CacheSet& caches_;
  const std::vector<model::StepFacts>& steps_;
  std::vector<model::ReferenceDifference> out_;
};

}  // namespace

std::vector<model::ReferenceDifference> compare_with_reference(
    const kvcache::CacheSet& caches, const std::vector<model::StepFacts>& steps,
    const ArmLog& eager) {
  Comparison comparison{caches, steps};
  for (const StepLog& log : eager.steps) comparison.compare(log);
  return comparison.take();
}

}  // namespace graphsan::run
