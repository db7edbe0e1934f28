#include "step/minimax_m3/attention_host.hpp"

#include <algorithm>
#include <memory>
#include <numbers>

#include "step/minimax_m3/attention.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/host_context.hpp"
#include "step/minimax_m3/host_tile.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

/// Query rows that are attended together: those of several lanes of one sequence.
constexpr int kMaxRows = 128;
static_assert(kMaxGroup <= kMaxRows && kMaxRows % 2 == 0 && kTileKeys % 8 == 0);

/// Rows are lane by lane; a lane has an even number of them, so that the two rows of a pair see the
/// same keys. The row that makes an odd group even is zero and its result is dropped.
struct Workspace {
  alignas(64) float keys[kTileKeys * kHeadDim];
  alignas(64) float values[kTileKeys * kHeadDim];
  alignas(64) float queries[kMaxRows][kHeadDim];
  alignas(64) float sums[kMaxRows][kHeadDim];
  alignas(64) float weights[2][kTileKeys];
  SoftmaxState states[kMaxRows];
};

/// One launch's numbers that do not change from lane to lane.
struct Shape {
  std::int32_t group;      ///< query heads of a KV head
  std::int32_t lane_rows;  ///< group, made even
  float logit_factor;      ///< turns a dot product into a logit of base 2
  float value_scale;
};

Shape shape_of(const AttentionArgs& args) {
  const std::int32_t group = args.q_heads / args.cache.heads;
  constexpr float kSoftmaxScale = 0.08838834764831845F;  // 128^-0.5
  return {group, group + group % 2,
          kSoftmaxScale * std::numbers::log2e_v<float> * scale_or_one(args.k_scale),
          scale_or_one(args.v_scale)};
}

GRAPHSAN_INLINE_BODY void load_queries(const AttentionArgs& args, const Shape& shape,
                                       std::int32_t kv_head, std::int64_t lane,
                                       float (*rows)[kHeadDim]) {
  const std::uint16_t* source = args.q + (lane * args.q_heads + kv_head * shape.group) * kHeadDim;
  for (std::int32_t row = 0; row < shape.group; ++row) {
    widen_bf16_row(source + row * kHeadDim, rows[row]);
  }
  if (shape.lane_rows != shape.group) std::fill_n(rows[shape.group], kHeadDim, 0.0F);
}

GRAPHSAN_INLINE_BODY void clear_rows(Workspace& work, std::int64_t rows) {
  std::fill_n(&work.sums[0][0], rows * kHeadDim, 0.0F);
  std::fill_n(work.states, rows, SoftmaxState{});
}

/// Adds the first `limit` keys of the loaded tile to the rows of one lane.
GRAPHSAN_INLINE_BODY void attend_tile(const Shape& shape, Workspace& work, std::int64_t first_row,
                                      int limit) {
  for (std::int64_t row = first_row; row < first_row + shape.lane_rows; row += 2) {
    score_two_rows(work.queries[row], work.queries[row + 1], work.keys, limit, work.weights[0],
                   work.weights[1]);
    const float shrink_a =
        softmax_tile(work.weights[0], limit, shape.logit_factor, work.states[row]);
    const float shrink_b =
        softmax_tile(work.weights[1], limit, shape.logit_factor, work.states[row + 1]);
    accumulate_two_rows(work.weights[0], work.weights[1], work.values, limit, shrink_a, shrink_b,
                        work.sums[row], work.sums[row + 1]);
  }
}

/// Writes one lane's result; rows that saw no key give 0.
GRAPHSAN_INLINE_BODY void store_lane(const AttentionArgs& args, const Shape& shape,
                                     std::int32_t kv_head, std::int64_t lane, const Workspace& work,
                                     std::int64_t first_row, bool any_key) {
  std::uint16_t* out = args.out + (lane * args.q_heads + kv_head * shape.group) * kHeadDim;
  if (!any_key) {
    std::fill_n(out, shape.group * kHeadDim, std::uint16_t{0});
    return;
  }
  for (std::int32_t row = 0; row < shape.group; ++row) {
    const float factor = shape.value_scale / work.states[first_row + row].sum;
    for (int d = 0; d < kHeadDim; ++d) {
      out[row * kHeadDim + d] = float_to_bf16(work.sums[first_row + row][d] * factor);
    }
  }
}

GRAPHSAN_INLINE_BODY void load_key_values(const AttentionArgs& args, std::int32_t kv_head,
                                          const std::int32_t* table, std::int64_t begin, int count,
                                          Workspace& work) {
  load_tile(args.cache, args.cache.key, kv_head, table, begin, count, work.keys);
  load_tile(args.cache, args.cache.value, kv_head, table, begin, count, work.values);
}

/// Whole context of a group of lanes: each tile is decoded once for all of them.
GRAPHSAN_INLINE_BODY void attend_dense(const AttentionArgs& args, const Shape& shape,
                                       std::int32_t kv_head, const LaneGroup& group,
                                       Workspace& work) {
  for (std::int64_t i = 0; i < group.count; ++i) {
    load_queries(args, shape, kv_head, group.first + i, &work.queries[i * shape.lane_rows]);
  }
  clear_rows(work, group.count * shape.lane_rows);
  const std::int32_t* table = lane_table(args.context, group.first);
  for (std::int64_t begin = 0; begin < group.longest; begin += kTileKeys) {
    const auto count = static_cast<int>(std::min<std::int64_t>(kTileKeys, group.longest - begin));
    load_key_values(args, kv_head, table, begin, count, work);
    for (std::int64_t i = 0; i < group.count; ++i) {
      const std::int64_t visible = context_length(args.context, group.first + i) - begin;
      if (visible <= 0) continue;
      attend_tile(shape, work, i * shape.lane_rows,
                  static_cast<int>(std::min<std::int64_t>(visible, count)));
    }
  }
  for (std::int64_t i = 0; i < group.count; ++i) {
    const std::int64_t lane = group.first + i;
    store_lane(args, shape, kv_head, lane, work, i * shape.lane_rows,
               context_length(args.context, lane) > 0);
  }
}

/// Selected blocks of one lane, in the order of the selection.
GRAPHSAN_INLINE_BODY void attend_selected(const AttentionArgs& args, const Shape& shape,
                                          std::int32_t kv_head, std::int64_t lane,
                                          Workspace& work) {
  load_queries(args, shape, kv_head, lane, work.queries);
  clear_rows(work, shape.lane_rows);
  const std::int32_t* table = lane_table(args.context, lane);
  const std::int32_t* ids =
      args.top_k + (static_cast<std::int64_t>(kv_head) * args.tokens_stride + lane) * args.k;
  const std::int64_t length = context_length(args.context, lane);
  bool any_key = false;
  for (std::int32_t i = 0; i < args.k; ++i) {
    const std::int64_t first = static_cast<std::int64_t>(ids[i]) * kBlockSize;
    if (ids[i] < 0 || first >= length) continue;
    any_key = true;
    const std::int64_t end = std::min(first + kBlockSize, length);
    for (std::int64_t begin = first; begin < end; begin += kTileKeys) {
      const auto count = static_cast<int>(std::min<std::int64_t>(kTileKeys, end - begin));
      load_key_values(args, kv_head, table, begin, count, work);
      attend_tile(shape, work, 0, count);
    }
  }
  store_lane(args, shape, kv_head, lane, work, 0, any_key);
}

GRAPHSAN_INLINE_BODY void attend_lanes(const AttentionArgs& args, std::int64_t tokens,
                                       Workspace& work) {
  const Shape shape = shape_of(args);
  for (std::int32_t kv_head = 0; kv_head < args.cache.heads; ++kv_head) {
    if (args.top_k != nullptr) {
      for (std::int64_t lane = 0; lane < tokens; ++lane) {
        attend_selected(args, shape, kv_head, lane, work);
      }
      continue;
    }
    for (std::int64_t first = 0; first < tokens;) {
      const LaneGroup group = lane_group(args.context, first, tokens, kMaxRows / shape.lane_rows);
      attend_dense(args, shape, kv_head, group, work);
      first += group.count;
    }
  }
}

GRAPHSAN_TARGET_AVX2 void attend_avx2(const AttentionArgs& args, std::int64_t tokens,
                                      Workspace& work) {
  attend_lanes(args, tokens, work);
}

void attend_baseline(const AttentionArgs& args, std::int64_t tokens, Workspace& work) {
  attend_lanes(args, tokens, work);
}

}  // namespace

void attention_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const AttentionArgs*>(arguments);
  if (args.cache.key == nullptr) return;
  const auto work = std::make_unique<Workspace>();
  const auto attend = has_avx2() ? &attend_avx2 : &attend_baseline;
  attend(args, covered_lanes(dims, args.tokens), *work);
}

}  // namespace graphsan::step::minimax_m3
