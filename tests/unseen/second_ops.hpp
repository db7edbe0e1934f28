#pragma once

#include <cstdint>
#include <span>

#include "device/kernel.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::test::second {

using Fields = std::span<const device::ArgumentFieldInfo>;

/// Some consecutive heads of each lane's row of an activation, as an op rewrites them.
struct Rows {
  std::uint16_t* values;
  std::int64_t stride;  ///< elements between lanes
  std::int64_t width;
  std::int64_t lanes;

  [[nodiscard]] float get(std::int64_t lane, std::int64_t i) const {
    return step::minimax_m3::bf16_to_float(values[lane * stride + i]);
  }
  void set(std::int64_t lane, std::int64_t i, float value) const {
    values[lane * stride + i] = step::minimax_m3::float_to_bf16(value);
  }
};

[[nodiscard]] inline Rows rows_of(const faults::HeadSlice& slice, std::int32_t lanes) {
  return {slice.values, slice.stride, slice.width, lanes};
}

#define GRAPHSAN_ROWS_FIELDS(Op)                                                      \
  GRAPHSAN_ARGUMENT_FIELD(Op, rows.values), GRAPHSAN_ARGUMENT_FIELD(Op, rows.stride), \
      GRAPHSAN_ARGUMENT_FIELD(Op, rows.width), GRAPHSAN_ARGUMENT_FIELD(Op, rows.lanes)

/// Takes each channel's mean over the batch from all rows; counts the lanes with a slot, but sums
/// over every lane.
struct CentreLanes {
  static constexpr const char* kName = "centre_lanes";
  Rows rows;
  const std::int64_t* slots;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(CentreLanes), GRAPHSAN_ARGUMENT_FIELD(CentreLanes, slots)};
    return kFields;
  }
  void run() const {
    std::int64_t live = 0;
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) live += slots[lane] >= 0 ? 1 : 0;
    if (live == 0) return;
    for (std::int64_t i = 0; i < rows.width; ++i) {
      float sum = 0.0F;
      for (std::int64_t lane = 0; lane < rows.lanes; ++lane) sum += rows.get(lane, i);
      const float mean = sum / static_cast<float>(live);
      for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
        rows.set(lane, i, rows.get(lane, i) - mean);
      }
    }
  }
};

/// Adds to every row the rows that lie between a lane's length and the end of its tile of 16: none
/// in a cache whose unwritten rows are zero. bf16 caches.
struct AddTileTail {
  static constexpr const char* kName = "add_tile_tail";
  static constexpr std::int64_t kTile = 16;
  Rows rows;  ///< output
  step::minimax_m3::KvCacheArg cache;
  const std::int32_t* block_table;
  const std::int32_t* lane_sequence;
  const std::int32_t* seq_lens;
  std::int64_t table_stride;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(AddTileTail),
        device::read_only(GRAPHSAN_ARGUMENT_FIELD(AddTileTail, cache.key)),
        device::read_only(GRAPHSAN_ARGUMENT_FIELD(AddTileTail, cache.value)),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, cache.page_stride),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, cache.slot_stride),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, cache.page_size),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, block_table),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, lane_sequence),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, seq_lens),
        GRAPHSAN_ARGUMENT_FIELD(AddTileTail, table_stride)};
    return kFields;
  }
  void run() const {
    using namespace step::minimax_m3;
    if (cache.key == nullptr) return;
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      const std::int64_t length = seq_lens[lane];
      const std::int32_t* table = block_table + lane_sequence[lane] * table_stride;
      for (std::int64_t p = length; p > 0 && p % kTile != 0; ++p) {
        const auto* value = reinterpret_cast<const std::uint16_t*>(
            cache.value + kv_offset(cache, context_slot(table, cache.page_size, p), 0));
        for (std::int64_t i = 0; i < rows.width; ++i) {
          rows.set(lane, i, rows.get(lane, i) + bf16_to_float(value[i % kHeadDim]));
        }
      }
    }
  }
};

/// Hands each lane's slot out once: a lane that is claimed already gets none.
struct ClaimSlots {
  static constexpr const char* kName = "claim_slots";
  std::int64_t* granted;
  std::int32_t* claims;
  const std::int64_t* slots;
  std::int64_t lanes;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(ClaimSlots, granted), GRAPHSAN_ARGUMENT_FIELD(ClaimSlots, claims),
        GRAPHSAN_ARGUMENT_FIELD(ClaimSlots, slots), GRAPHSAN_ARGUMENT_FIELD(ClaimSlots, lanes)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const bool free = slots[lane] >= 0 && claims[lane] == 0;
      granted[lane] = free ? slots[lane] : -1;
      if (free) claims[lane] = 1;
    }
  }
};

/// totals[lane, i] += rows[lane, i]: fp32 sums that whoever reads them leaves at zero.
struct Accumulate {
  static constexpr const char* kName = "accumulate_rows";
  float* totals;
  const std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  std::int64_t lanes;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(Accumulate, totals), GRAPHSAN_ARGUMENT_FIELD(Accumulate, values),
        GRAPHSAN_ARGUMENT_FIELD(Accumulate, stride), GRAPHSAN_ARGUMENT_FIELD(Accumulate, width),
        GRAPHSAN_ARGUMENT_FIELD(Accumulate, lanes)};
    return kFields;
  }
  void run() const {
    for (std::int64_t i = 0; i < lanes * width; ++i) {
      totals[i] += step::minimax_m3::bf16_to_float(values[i / width * stride + i % width]);
    }
  }
};

/// out[i] = totals[i], and totals[i] = 0 for the next user.
struct TakeTotals {
  static constexpr const char* kName = "take_totals";
  std::uint16_t* out;
  float* totals;
  std::int64_t count;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(TakeTotals, out), GRAPHSAN_ARGUMENT_FIELD(TakeTotals, totals),
        GRAPHSAN_ARGUMENT_FIELD(TakeTotals, count)};
    return kFields;
  }
  void run() const {
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = step::minimax_m3::float_to_bf16(totals[i]);
      totals[i] = 0.0F;
    }
  }
};

}  // namespace graphsan::test::second
