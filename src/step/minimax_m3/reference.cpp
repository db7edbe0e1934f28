#include "step/minimax_m3/reference.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "step/minimax_m3/ops.hpp"
#include "step/minimax_m3/step_program.hpp"

namespace graphsan::step::minimax_m3 {

Reference::Reference(device::Device& device, const Config& config, const BatchPlan& plan,
                     const Pool& pool, const LaneBuffers& exact, const LaneBuffers& persistent,
                     Conversion conversion)
    : device_{&device},
      config_{config},
      plan_{&plan},
      pool_{&pool},
      exact_{&exact},
      persistent_{&persistent},
      conversion_{conversion},
      memory_{device} {
  const HeadsArg heads = heads_for(config.tp, true);
  const auto lanes = static_cast<std::size_t>(std::max(exact.capacity, persistent.capacity));
  const auto index_heads = static_cast<std::size_t>(heads.index_q);
  scores_ = memory_.add<float>("reference scores",
                               index_heads * lanes * static_cast<std::size_t>(plan.max_blocks()));
  top_k_ = memory_.add<std::int32_t>("reference top-k",
                                     index_heads * lanes * static_cast<std::size_t>(config.top_k));
  out_ = memory_.add<std::uint16_t>("reference output",
                                    lanes * static_cast<std::size_t>(heads.q) * kHeadDim);
  // Wide enough for K and V of any dtype.
  rows_ = memory_.add<std::byte>("reference rows",
                                 lanes * 4 * static_cast<std::size_t>(heads.kv) * kHeadDim);
  lane_slots_ = memory_.add<std::int64_t>("reference slots", lanes);
  std::vector<std::int64_t> slots(lanes);
  std::iota(slots.begin(), slots.end(), 0);
  const device::Stream stream = device.create_stream();
  device.copy(stream.get(), lane_slots_, slots.data(), slots.size() * sizeof(std::int64_t));
  device.synchronize(stream.get());
}

const LaneBuffers& Reference::lanes_for(int step, Arm arm) const {
  const CapturePreset preset =
      capture_preset(config_, plan_->batch_of(step), plan_->step(step).bucket);
  const bool padded = arm == Arm::kPaddedEager || (arm == Arm::kGraph && preset.covered);
  return padded ? *persistent_ : *exact_;
}

std::vector<int> Reference::sparse_layers() const {
  std::vector<int> layers;
  for (int layer = 0; layer < config_.layers; ++layer) {
    if (is_sparse_layer(layer, config_.layers)) layers.push_back(layer);
  }
  return layers;
}

ReferenceSelection Reference::select(int step, Arm arm, int layer, device::StreamRef stream) {
  const LaneBuffers& lanes = lanes_for(step, arm);
  const int tokens = plan_->step(step).tokens;
  const IndexerScoreArgs score = score_args(lanes, config_, *plan_, *pool_, layer, tokens, scores_);
  IndexerTopKArgs top_k = top_k_args(lanes, config_, *plan_, tokens, scores_, top_k_);
  top_k.tokens_stride = tokens;
  ReferenceSelection selection{.lanes = tokens,
                               .heads = score.heads,
                               .k = config_.top_k,
                               .blocks = score.blocks,
                               .ids = {},
                               .scores = {}};
  const std::size_t rows = static_cast<std::size_t>(score.heads) * static_cast<std::size_t>(tokens);
  // Blocks beyond the visible ones are never written by the indexer: mark them.
  selection.scores.assign(rows * static_cast<std::size_t>(score.blocks),
                          std::numeric_limits<float>::quiet_NaN());
  selection.ids.resize(rows * static_cast<std::size_t>(config_.top_k));
  device_->copy(stream, scores_, selection.scores.data(), selection.scores.size() * sizeof(float));
  launch_indexer_score(*device_, stream, score);
  launch_indexer_top_k(*device_, stream, top_k);
  device_->synchronize(stream);
  device_->copy(stream, selection.scores.data(), scores_, selection.scores.size() * sizeof(float));
  device_->copy(stream, selection.ids.data(), top_k_, selection.ids.size() * sizeof(std::int32_t));
  device_->synchronize(stream);
  return selection;
}

std::vector<std::vector<std::byte>> Reference::download_rows(device::StreamRef stream,
                                                             const void* from, int rows,
                                                             std::size_t row_bytes) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows) * row_bytes);
  device_->copy(stream, bytes.data(), from, bytes.size());
  device_->synchronize(stream);
  std::vector<std::vector<std::byte>> out;
  for (int row = 0; row < rows; ++row) {
    const std::byte* begin = bytes.data() + static_cast<std::size_t>(row) * row_bytes;
    out.emplace_back(begin, begin + row_bytes);
  }
  return out;
}

std::vector<std::vector<std::byte>> Reference::attend(int step, Arm arm, int layer,
                                                      device::StreamRef stream) {
  const LaneBuffers& lanes = lanes_for(step, arm);
  const int tokens = plan_->step(step).tokens;
  launch_attention(*device_, stream,
                   attention_args(lanes, config_, *plan_, *pool_, layer, tokens, out_));
  const auto width = static_cast<std::size_t>(heads_for(config_.tp, true).q) * kHeadDim * 2;
  return download_rows(stream, out_, tokens, width);
}

std::vector<std::vector<std::byte>> Reference::lane_rows(int step, Arm arm, int cache,
                                                         device::StreamRef stream) {
  const std::vector<kvcache::CacheView> views = pool_->views();
  const model::CacheLayout& layout = views.at(static_cast<std::size_t>(cache)).layout;
  if (layout.kind == model::CacheKind::kGuard) return {};
  const LaneBuffers& lanes = lanes_for(step, arm);
  const int count = &lanes == persistent_ ? plan_->step(step).bucket : plan_->step(step).tokens;
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layout.layer, config_.layers));
  const std::int64_t width = row_width(heads);
  const std::uint16_t* qkv = lanes.layers[static_cast<std::size_t>(layout.layer)].qkv;
  const std::int64_t row_bytes = layout.row_bytes();
  if (layout.kind == model::CacheKind::kIndexKey) {
    launch_index_key_write(*device_, stream,
                           {.index_k = qkv + (width - kHeadDim),
                            .stride = width,
                            .slots = lane_slots_,
                            .cache = {reinterpret_cast<std::uint16_t*>(rows_), count},
                            .tokens = count,
                            .negative = NegativeSlot::kSkip});
    return download_rows(stream, rows_, count, static_cast<std::size_t>(row_bytes));
  }
  const std::int64_t k_offset = static_cast<std::int64_t>(heads.q) * kHeadDim;
  const std::int64_t plane = count * row_bytes;
  launch_reshape_and_cache(
      *device_, stream,
      {.key = qkv + k_offset,
       .value = qkv + k_offset + static_cast<std::ptrdiff_t>(heads.kv) * kHeadDim,
       .key_stride = width,
       .value_stride = width,
       .slots = lane_slots_,
       .k_scale = nullptr,
       .v_scale = nullptr,
       .cache = {.key = rows_,
                 .value = rows_ + plane,
                 .page_stride = 2 * plane,
                 .slot_stride = row_bytes,
                 .head_stride = row_bytes / heads.kv,
                 .slots = count,
                 .page_size = count,
                 .heads = heads.kv,
                 .dtype = config_.kv_dtype,
                 .conversion = conversion_},
       .tokens = count,
       .scale_count = 1});
  const bool key = layout.kind == model::CacheKind::kKey;
  return download_rows(stream, key ? rows_ : rows_ + plane, count,
                       static_cast<std::size_t>(row_bytes));
}

}  // namespace graphsan::step::minimax_m3
