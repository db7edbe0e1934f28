#pragma once

#include <cstddef>
#include <cstdint>

#include "step/minimax_m3/host_device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Byte offset of [slot, head, 0] from `cache.key` or `cache.value`; `slot` must be in range.
GRAPHSAN_HOST_DEVICE inline std::int64_t kv_offset(const KvCacheArg& cache, std::int64_t slot,
                                                   std::int32_t head) {
  return slot / cache.page_size * cache.page_stride + slot % cache.page_size * cache.slot_stride +
         head * cache.head_stride;
}

/// Whether a write to `slot` is made: not for negative slots, nor beyond the cache.
GRAPHSAN_HOST_DEVICE inline bool writes_slot(std::int64_t slot, std::int64_t slots) {
  return slot >= 0 && slot < slots;
}

/// A scale of which the caller may have none.
GRAPHSAN_HOST_DEVICE inline float scale_or_one(const float* scale) {
  return scale == nullptr ? 1.0F : *scale;
}

/// Slot of position `position` of the sequence whose block-table row is `table`.
GRAPHSAN_HOST_DEVICE inline std::int64_t context_slot(const std::int32_t* table,
                                                      std::int32_t page_size,
                                                      std::int64_t position) {
  return static_cast<std::int64_t>(table[position / page_size]) * page_size + position % page_size;
}

/// Context length of a lane: 0 for a pad lane, never more than its block-table row can name.
GRAPHSAN_HOST_DEVICE inline std::int64_t context_length(const ContextArg& context,
                                                        std::int64_t lane) {
  const std::int64_t length = context.seq_lens[lane];
  const std::int64_t limit = static_cast<std::int64_t>(context.table_stride) * context.page_size;
  return length < 0 ? 0 : (length < limit ? length : limit);
}

/// Block-table row of a lane.
GRAPHSAN_HOST_DEVICE inline const std::int32_t* lane_table(const ContextArg& context,
                                                           std::int64_t lane) {
  return context.block_table +
         static_cast<std::int64_t>(context.lane_sequence[lane]) * context.table_stride;
}

}  // namespace graphsan::step::minimax_m3
