#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/host_rows.hpp"
#include "step/minimax_m3/host_simd.hpp"

namespace graphsan::step::minimax_m3 {

/// Runs of consecutive lanes of one sequence, whose keys are decoded once for all of them.
struct LaneGroup {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t longest = 0;  ///< context of the lane that sees most
};

/// The group that starts at `first`: at most `limit` lanes.
[[nodiscard]] inline LaneGroup lane_group(const ContextArg& context, std::int64_t first,
                                          std::int64_t tokens, std::int64_t limit) {
  LaneGroup group{first, 0, 0};
  const std::int64_t end = std::min(tokens, first + limit);
  for (std::int64_t lane = first; lane < end; ++lane) {
    if (context.lane_sequence[lane] != context.lane_sequence[first]) break;
    group.longest = std::max(group.longest, context_length(context, lane));
    ++group.count;
  }
  return group;
}

/// Decodes one head's runs at positions [begin, begin + count) of a sequence into rows of `tile`.
GRAPHSAN_INLINE_BODY void load_tile(const KvCacheArg& cache, const std::byte* base,
                                    std::int32_t head, const std::int32_t* table,
                                    std::int64_t begin, int count, float* tile) {
  const std::byte* head_base = base + head * cache.head_stride;
  for (int done = 0; done < count;) {
    const std::int64_t position = begin + done;
    const std::int64_t offset = position % cache.page_size;
    const auto run = static_cast<int>(
        std::min<std::int64_t>(count - done, static_cast<std::int64_t>(cache.page_size) - offset));
    const std::byte* source = head_base + table[position / cache.page_size] * cache.page_stride +
                              offset * cache.slot_stride;
    for (int i = 0; i < run; ++i) {
      widen_row(cache.dtype, source + i * cache.slot_stride,
                tile + static_cast<std::ptrdiff_t>(done + i) * kHeadDim);
    }
    done += run;
  }
}

}  // namespace graphsan::step::minimax_m3
