#include "run/arm_log.hpp"

#include <algorithm>

namespace graphsan::run {

std::ptrdiff_t StepLog::find(std::int64_t global_row) const {
  const auto at = std::lower_bound(changed.begin(), changed.end(), global_row);
  return at != changed.end() && *at == global_row ? at - changed.begin() : -1;
}

const OutputRows* StepLog::find_output(const model::CacheLayout& output) const {
  for (const OutputRows& rows : outputs) {
    if (rows.layout.name == output.name && rows.layout.kind == output.kind &&
        rows.layout.layer == output.layer) {
      return &rows;
    }
  }
  return nullptr;
}

const std::vector<std::byte>* StepLog::attended_lane(const OutputRows& output,
                                                     std::size_t lane) const {
  const auto layer = attended.find(output.layout.layer);
  if (layer == attended.end() || lane >= layer->second.size()) return nullptr;
  const std::vector<std::byte>& wanted = layer->second[lane];
  return wanted.size() == output.lanes[lane].size() ? &wanted : nullptr;
}

std::uint64_t row_pattern_seed(int step) {
  constexpr std::uint64_t kRowPattern = 0x6772'6170'0000'0000ULL;
  return kRowPattern + static_cast<std::uint64_t>(step);
}

std::vector<std::int64_t> expected_rows(const kvcache::CacheSet& caches,
                                        const model::StepFacts& step) {
  std::vector<std::int64_t> rows;
  for (int cache = 0; cache < static_cast<int>(caches.views().size()); ++cache) {
    const model::CacheKind kind = caches.views()[static_cast<std::size_t>(cache)].layout.kind;
    if (kind == model::CacheKind::kGuard) continue;
    for (const model::Lane& lane : step.lanes) {
      const std::int64_t slot = kind == model::CacheKind::kIndexKey ? lane.index_slot : lane.slot;
      if (lane.real && slot >= 0) rows.push_back(caches.global_row(cache, slot));
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace graphsan::run
