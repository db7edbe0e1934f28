#include "step/minimax_m3/forward.hpp"

#include <fmt/format.h>

#include "step/minimax_m3/input_data.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::step::minimax_m3 {

namespace {

/// Share of a layer's output in the next layer's input: enough to move it, too little to drown it.
constexpr float kMixWeight = 0.25F;

}  // namespace

Weights::Weights(device::Device& device, device::StreamRef stream, const Config& config,
                 const BatchPlan& plan)
    : memory{device} {
  const InputData data{config, plan};
  const std::int64_t positions = static_cast<std::int64_t>(plan.table_stride()) * config.page_size;
  const std::vector<std::uint16_t> table = cos_sin_table(positions);
  auto* table_memory = memory.add<std::uint16_t>("rope table", table.size());
  device.copy(stream, table_memory, table.data(), table.size() * sizeof(std::uint16_t));
  cos_sin = table_memory;
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::vector<std::uint16_t> drawn = data.norm_weights(layer);
    auto* made =
        memory.add<std::uint16_t>(fmt::format("layer {} norm weights", layer), drawn.size());
    device.copy(stream, made, drawn.data(), drawn.size() * sizeof(std::uint16_t));
    device.synchronize(stream);
    norm.push_back(made);
  }
  device.synchronize(stream);
}

/// One pass: where it goes and whether a capture takes it.
struct Forward::Pass {
  device::StreamRef stream;
  const LaneBuffers* lanes;
  int tokens;
  const Pool* pool;
  SegmentedCapture* capture;
  BreakSet breaks;
  device::PoolId graph_pool;
};

Forward::Forward(device::Device& device, const Config& config, const BatchPlan& plan,
                 const Weights& weights, device::CachingAllocator& allocator,
                 std::shared_ptr<const InsertPath> insert_path)
    : device_{&device},
      config_{config},
      plan_{&plan},
      weights_{&weights},
      allocator_{&allocator},
      insert_path_{std::move(insert_path)} {}

void Forward::run(device::StreamRef stream, const LaneBuffers& lanes, int tokens,
                  const Pool* pool) {
  const Pass pass{stream, &lanes, tokens, pool, nullptr, {}, {}};
  for (int i = 0; i < config_.layers; ++i) layer(pass, i);
}

void Forward::capture(SegmentedCapture& capture, device::StreamRef stream, const LaneBuffers& lanes,
                      int tokens, const Pool* pool, const BreakSet& breaks,
                      device::PoolId graph_pool) {
  const Pass pass{stream, &lanes, tokens, pool, &capture, breaks, graph_pool};
  for (int i = 0; i < config_.layers; ++i) layer(pass, i);
}

void Forward::issue(const Pass& pass, const char* op, int layer, bool is_break,
                    const std::function<void(device::StreamRef)>& launch) {
  std::string label = fmt::format("layer {} / {}", layer, op);
  const auto labelled = [this, launch, label](device::StreamRef stream) {
    const device::LabelScope scope{*device_, label};
    launch(stream);
  };
  if (pass.capture == nullptr || !is_break) {
    labelled(pass.stream);
    return;
  }
  // A break's own temporaries are the framework's ordinary ones, not the graph pool's.
  allocator_->end_pool();
  pass.capture->break_here(label, labelled);
  allocator_->begin_pool(pass.graph_pool);
}

void Forward::layer(const Pass& pass, int layer) {
  const bool fused = insert_path_->writes_in_norm_rope();
  // Copies of the pass go into the ops: a break outlives this call.
  const Pass kept = pass;
  issue(pass, "norm-rope", layer, pass.breaks.norm_rope,
        [this, kept, layer](device::StreamRef stream) { norm_rope(kept, stream, layer); });
  if (!fused) {
    issue(pass, "insert", layer, pass.breaks.insert,
          [this, kept, layer](device::StreamRef stream) { insert(kept, stream, layer); });
  }
  if (is_sparse_layer(layer, config_.layers)) {
    issue(pass, "indexer", layer, pass.breaks.indexer,
          [this, kept, layer](device::StreamRef stream) { indexer(kept, stream, layer); });
  }
  issue(pass, "attention", layer, pass.breaks.attention,
        [this, kept, layer](device::StreamRef stream) { attention(kept, stream, layer); });
}

void Forward::norm_rope(const Pass& pass, device::StreamRef stream, int layer) const {
  const LayerBuffers& buffers = pass.lanes->layers[static_cast<std::size_t>(layer)];
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
  const std::int64_t width = row_width(heads);
  const LayerBuffers* before =
      layer == 0 ? nullptr : &pass.lanes->layers[static_cast<std::size_t>(layer - 1)];
  launch_mix(*device_, stream,
             {.base = buffers.base,
              .out = before == nullptr ? nullptr : before->out,
              .qkv = buffers.qkv,
              .row_width = width,
              .out_width = static_cast<std::int64_t>(heads.q) * kHeadDim,
              .tokens = pass.tokens,
              .weight = kMixWeight});
  const std::uint16_t* norm = weights_->norm[static_cast<std::size_t>(layer)];
  NormRopeArgs args{.qkv = buffers.qkv,
                    .q_out = buffers.q,
                    .index_q_out = buffers.index_q,
                    .w_q = norm,
                    .w_k = norm + kHeadDim,
                    .w_index_q = norm + 2 * kHeadDim,
                    .w_index_k = norm + 3 * kHeadDim,
                    .positions = pass.lanes->positions,
                    .cos_sin = weights_->cos_sin,
                    .slots = nullptr,
                    .index_slots = nullptr,
                    .k_scale = nullptr,
                    .v_scale = nullptr,
                    .cache = {},
                    .index_cache = {},
                    .heads = heads,
                    .row_width = width,
                    .tokens = pass.tokens};
  if (insert_path_->writes_in_norm_rope() && pass.pool != nullptr) {
    args.slots = pass.lanes->slots;
    args.index_slots = pass.lanes->slots;
    args.cache = pass.pool->kv(layer);
    args.index_cache = pass.pool->index(layer);
  }
  launch_norm_rope(*device_, stream, args);
}

void Forward::insert(const Pass& pass, device::StreamRef stream, int layer) const {
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
  insert_path_->insert(
      {.device = *device_,
       .stream = stream,
       .allocator = *allocator_,
       .layer = layer,
       .qkv = pass.lanes->layers[static_cast<std::size_t>(layer)].qkv,
       .row_width = row_width(heads),
       .heads = heads,
       .tokens = pass.tokens,
       .slots = pass.lanes->slots,
       .metadata = metadata_,
       .cache = pass.pool == nullptr ? KvCacheArg{} : pass.pool->kv(layer),
       .index_cache = pass.pool == nullptr ? IndexCacheArg{} : pass.pool->index(layer)});
}

void Forward::indexer(const Pass& pass, device::StreamRef stream, int layer) const {
  if (metadata_ == nullptr || pass.pool == nullptr) return;
  const LayerBuffers& buffers = pass.lanes->layers[static_cast<std::size_t>(layer)];
  launch_indexer_score(
      *device_, stream,
      score_args(*pass.lanes, config_, *plan_, *pass.pool, layer, pass.tokens, buffers.scores));
  launch_indexer_top_k(
      *device_, stream,
      top_k_args(*pass.lanes, config_, *plan_, pass.tokens, buffers.scores, buffers.top_k));
}

void Forward::attention(const Pass& pass, device::StreamRef stream, int layer) const {
  if (metadata_ == nullptr || pass.pool == nullptr) return;
  const LayerBuffers& buffers = pass.lanes->layers[static_cast<std::size_t>(layer)];
  launch_attention(
      *device_, stream,
      attention_args(*pass.lanes, config_, *plan_, *pass.pool, layer, pass.tokens, buffers.out));
}

ContextArg context_of(const LaneBuffers& lanes, const Config& config, const BatchPlan& plan) {
  return {.block_table = lanes.block_table,
          .lane_sequence = lanes.lane_sequence,
          .positions = lanes.positions,
          .seq_lens = lanes.seq_lens,
          .table_stride = plan.table_stride(),
          .page_size = config.page_size};
}

IndexerScoreArgs score_args(const LaneBuffers& lanes, const Config& config, const BatchPlan& plan,
                            const Pool& pool, int layer, int tokens, float* scores) {
  return {.index_q = lanes.layers[static_cast<std::size_t>(layer)].index_q,
          .index_cache = pool.index(layer).base,
          .scores = scores,
          .context = context_of(lanes, config, plan),
          .tokens = tokens,
          .heads = heads_for(config.tp, true).index_q,
          .blocks = plan.max_blocks()};
}

IndexerTopKArgs top_k_args(const LaneBuffers& lanes, const Config& config, const BatchPlan& plan,
                           int tokens, const float* scores, std::int32_t* top_k) {
  return {.scores = scores,
          .top_k = top_k,
          .seq_lens = lanes.seq_lens,
          .tokens = tokens,
          .tokens_stride = lanes.capacity,
          .heads = heads_for(config.tp, true).index_q,
          .blocks = plan.max_blocks(),
          .k = config.top_k,
          .init_blocks = 0,
          .local_blocks = 1};
}

AttentionArgs attention_args(const LaneBuffers& lanes, const Config& config, const BatchPlan& plan,
                             const Pool& pool, int layer, int tokens, std::uint16_t* out) {
  const LayerBuffers& buffers = lanes.layers[static_cast<std::size_t>(layer)];
  return {.q = buffers.q,
          .out = out,
          .top_k = buffers.top_k,
          .cache = pool.kv(layer),
          .k_scale = nullptr,
          .v_scale = nullptr,
          .context = context_of(lanes, config, plan),
          .tokens = tokens,
          .tokens_stride = lanes.capacity,
          .q_heads = heads_for(config.tp, false).q,
          .k = config.top_k,
          .scratch = lanes.attention_scratch};
}

}  // namespace graphsan::step::minimax_m3
