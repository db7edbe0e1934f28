#include "step/minimax_m3/step_program.hpp"

#include <utility>

#include "step/minimax_m3/ops.hpp"

namespace graphsan::step::minimax_m3 {

namespace {

/// Share of a layer's output in the next layer's input: enough to move it, too little to drown it.
constexpr float kMixWeight = 0.25F;

const LayerBuffers& buffers_of(const OpContext& context) {
  return context.lanes.layers[static_cast<std::size_t>(context.layer)];
}

HeadsArg heads_of(const OpContext& context) {
  const Config& config = context.shared.config;
  return heads_for(config.tp, is_sparse_layer(context.layer, config.layers));
}

}  // namespace

StepProgram::StepProgram(std::shared_ptr<const InsertPath> insert_path)
    : insert_path_{std::move(insert_path)} {}

InsertContext StepProgram::insert_context(const OpContext& context) {
  const HeadsArg heads = heads_of(context);
  const Pool* pool = context.pool;
  return {.device = context.shared.device,
          .stream = context.stream,
          .allocator = context.shared.allocator,
          .layer = context.layer,
          .qkv = buffers_of(context).qkv,
          .row_width = row_width(heads),
          .heads = heads,
          .tokens = context.tokens,
          .slots = context.lanes.slots,
          .metadata = context.metadata,
          .cache = pool == nullptr ? KvCacheArg{} : pool->kv(context.layer),
          .index_cache = pool == nullptr ? IndexCacheArg{} : pool->index(context.layer)};
}

void StepProgram::norm_rope(const OpContext& context) {
  device::Device& device = context.shared.device;
  launch_mix(device, context.stream, mix_args(context));
  launch_norm_rope(device, context.stream, norm_rope_args(context, writes_in_norm_rope()));
}

void StepProgram::insert(const OpContext& context) {
  insert_path_->insert(insert_context(context));
}

void StepProgram::indexer(const OpContext& context) {
  if (context.metadata == nullptr || context.pool == nullptr) return;
  const ProgramContext& shared = context.shared;
  const LayerBuffers& buffers = buffers_of(context);
  launch_indexer_score(shared.device, context.stream,
                       score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                  context.layer, context.tokens, buffers.scores));
  launch_indexer_top_k(shared.device, context.stream,
                       top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                  buffers.scores, buffers.top_k));
}

void StepProgram::attention(const OpContext& context) {
  if (context.metadata == nullptr || context.pool == nullptr) return;
  const ProgramContext& shared = context.shared;
  launch_attention(shared.device, context.stream,
                   attention_args(context.lanes, shared.config, shared.plan, *context.pool,
                                  context.layer, context.tokens, buffers_of(context).out));
}

ProgramFactory sound_program() {
  return
      [](const Config& config) { return std::make_unique<StepProgram>(make_insert_path(config)); };
}

ProgramFactory program_with(std::shared_ptr<const InsertPath> insert_path) {
  return [insert_path = std::move(insert_path)](const Config&) {
    return std::make_unique<StepProgram>(insert_path);
  };
}

MixArgs mix_args(const OpContext& context) {
  const LayerBuffers& buffers = buffers_of(context);
  const HeadsArg heads = heads_of(context);
  const LayerBuffers* before =
      context.layer == 0 ? nullptr
                         : &context.lanes.layers[static_cast<std::size_t>(context.layer - 1)];
  return {.base = buffers.base,
          .out = before == nullptr ? nullptr : before->out,
          .qkv = buffers.qkv,
          .row_width = row_width(heads),
          .out_width = static_cast<std::int64_t>(heads.q) * kHeadDim,
          .tokens = context.tokens,
          .weight = kMixWeight};
}

NormRopeArgs norm_rope_args(const OpContext& context, bool inserts) {
  const LayerBuffers& buffers = buffers_of(context);
  const HeadsArg heads = heads_of(context);
  const std::uint16_t* norm = context.weights.norm[static_cast<std::size_t>(context.layer)];
  NormRopeArgs args{.qkv = buffers.qkv,
                    .q_out = buffers.q,
                    .index_q_out = buffers.index_q,
                    .w_q = norm,
                    .w_k = norm + kHeadDim,
                    .w_index_q = norm + 2 * kHeadDim,
                    .w_index_k = norm + 3 * kHeadDim,
                    .positions = context.lanes.positions,
                    .cos_sin = context.weights.cos_sin,
                    .slots = nullptr,
                    .index_slots = nullptr,
                    .k_scale = nullptr,
                    .v_scale = nullptr,
                    .cache = {},
                    .index_cache = {},
                    .heads = heads,
                    .row_width = row_width(heads),
                    .tokens = context.tokens};
  if (inserts && context.pool != nullptr) {
    args.slots = context.lanes.slots;
    args.index_slots = context.lanes.slots;
    args.cache = context.pool->kv(context.layer);
    args.index_cache = context.pool->index(context.layer);
  }
  return args;
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
