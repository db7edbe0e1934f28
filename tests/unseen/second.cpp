#include "tests/unseen/second.hpp"

#include <algorithm>
#include <utility>

#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test {

const std::vector<UnseenFault>& unseen_faults_second() {
  static const std::vector<UnseenFault> faults = [] {
    std::vector<UnseenFault> made;
    second::add_padding_faults(made);
    second::add_capture_faults(made);
    second::add_order_faults(made);
    second::add_value_faults(made);
    second::add_excused_faults(made);
    return made;
  }();
  return faults;
}

namespace second {

using namespace step::minimax_m3;

namespace {

/// The indexer's selection, but of equal blocks the later ones.
struct SelectLater {
  static constexpr const char* kName = "select_later";
  IndexerTopKArgs args;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.scores),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.top_k),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.seq_lens),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.tokens),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.tokens_stride),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.heads),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.blocks),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.k),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.init_blocks),
        GRAPHSAN_ARGUMENT_FIELD(SelectLater, args.local_blocks)};
    return kFields;
  }
  void select(std::int64_t head, std::int64_t lane) const {
    const std::int32_t visible = visible_blocks(args, lane);
    const float* scores = args.scores + (head * args.tokens + lane) * args.blocks;
    std::vector<std::pair<float, std::int32_t>> ranked;
    for (std::int32_t block = 0; block < visible; ++block) {
      ranked.emplace_back(effective_score(args, scores[block], block, visible), block);
    }
    std::sort(ranked.rbegin(), ranked.rend());
    ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(args.k)));
    std::vector<std::int32_t> ids;
    for (const auto& [score, block] : ranked) ids.push_back(block);
    std::sort(ids.begin(), ids.end());
    ids.resize(static_cast<std::size_t>(args.k), -1);
    std::copy(ids.begin(), ids.end(), args.top_k + (head * args.tokens_stride + lane) * args.k);
  }
  void run() const {
    for (std::int64_t head = 0; head < args.heads; ++head) {
      for (std::int64_t lane = 0; lane < args.tokens; ++lane) select(head, lane);
    }
  }
};

}  // namespace

void select_blocks(const OpContext& context, TieWinner winner) {
  if (context.metadata == nullptr || context.pool == nullptr) return;
  const ProgramContext& shared = context.shared;
  const LayerBuffers& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
  launch_indexer_score(shared.device, context.stream,
                       score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                  context.layer, context.tokens, buffers.scores));
  const IndexerTopKArgs args = top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                          buffers.scores, buffers.top_k);
  if (winner == TieWinner::kEarlier) {
    launch_indexer_top_k(shared.device, context.stream, args);
  } else {
    launch_op(shared.device, context.stream, SelectLater{args});
  }
}

void try_write(const ProgramContext& shared, device::StreamRef stream, std::int64_t* slots,
               int layer) {
  const int lanes = shared.persistent.capacity;
  std::vector<std::int64_t> rows;
  for (int lane = 0; lane < lanes; ++lane) {
    const int sequence = lane % shared.plan.sequences();
    rows.push_back(
        shared.plan.slot(sequence, shared.plan.end(sequence) + lane / shared.plan.sequences()));
  }
  shared.device.copy(stream, slots, rows.data(), rows.size() * sizeof(rows[0]));
  const Config& config = shared.config;
  const HeadsArg heads = heads_for(config.tp, is_sparse_layer(layer, config.layers));
  const std::uint16_t* key = shared.persistent.layers[static_cast<std::size_t>(layer)].base +
                             static_cast<std::ptrdiff_t>(heads.q) * kHeadDim;
  launch_reshape_and_cache(shared.device, stream,
                           {.key = key,
                            .value = key + static_cast<std::ptrdiff_t>(heads.kv) * kHeadDim,
                            .key_stride = row_width(heads),
                            .value_stride = row_width(heads),
                            .slots = slots,
                            .k_scale = nullptr,
                            .v_scale = nullptr,
                            .cache = shared.pool.kv(layer),
                            .tokens = lanes,
                            .scale_count = 1});
}

void add_tile_tail(const OpContext& context) {
  if (context.pool == nullptr || context.metadata == nullptr) return;
  launch_op(context.shared.device, context.stream,
            AddTileTail{rows_of(faults::output_slice(context), context.tokens),
                        context.pool->kv(context.layer), context.lanes.block_table,
                        context.lanes.lane_sequence, context.lanes.seq_lens,
                        context.shared.plan.table_stride()});
}

}  // namespace second

}  // namespace graphsan::test
