#include "probes/capture-side-effect/fault_ops.hpp"

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::heads_for;
using step::minimax_m3::InsertContext;
using step::minimax_m3::is_sparse_layer;
using step::minimax_m3::LayerBuffers;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::row_width;
using step::minimax_m3::StepProgram;

namespace {

const LayerBuffers& buffers_of(const OpContext& context) {
  return context.lanes.layers[static_cast<std::size_t>(context.layer)];
}

/// The dummy batch of a capture is uninitialised memory with slot 0 for every lane, so the warm-up
/// writes NaN there, in the null page that unused entries of the block table name.
class DummyWritesNullPage : public StepProgram {
 public:
  DummyWritesNullPage(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired} {}

  void reset(const ProgramContext&, device::StreamRef) override { live_ = false; }
  void refill(const RefillContext&) override { live_ = true; }
  void before_capture(const ProgramContext& shared, device::StreamRef stream, int bucket) override {
    if (repaired_ == Repaired::kYes || live_) return;
    const auto lanes = static_cast<std::size_t>(bucket);
    shared.device.fill(stream, shared.persistent.slots, 0, lanes * sizeof(std::int64_t));
    for (int layer = 0; layer < shared.config.layers; ++layer) {
      const auto heads = heads_for(shared.config.tp, is_sparse_layer(layer, shared.config.layers));
      shared.device.fill(
          stream, shared.persistent.layers[static_cast<std::size_t>(layer)].base, 0xFF,
          lanes * static_cast<std::size_t>(row_width(heads)) * sizeof(std::uint16_t));
    }
  }

 private:
  Repaired repaired_;
  bool live_ = false;  ///< the capture is of a live batch, not of a dummy one
};

/// The indexer gathers over every table entry and masks the unused ones.
class MaskedIndexGather final : public DummyWritesNullPage {
 public:
  using DummyWritesNullPage::DummyWritesNullPage;

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const auto score = score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                  context.layer, context.tokens, buffers_of(context).scores);
    launch_indexer_score(shared.device, context.stream, score);
    launch(shared.device, context.stream,
           AddMaskedKey{.count = std::int64_t{score.heads} * score.tokens * score.blocks,
                        .scores = score.scores,
                        .row = score.index_cache,
                        .weight = 0.0});
    launch_indexer_top_k(shared.device, context.stream,
                         top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                    score.scores, buffers_of(context).top_k));
  }
};

/// Dense attention adds up the values of every table entry, the unused ones with weight 0.
class MaskedValueGather final : public DummyWritesNullPage {
 public:
  using DummyWritesNullPage::DummyWritesNullPage;

  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    const bool sparse = buffers_of(context).top_k != nullptr;
    if (sparse || context.metadata == nullptr || context.pool == nullptr) return;
    const HeadSlice out = output_slice(context);
    const step::minimax_m3::KvCacheArg cache = context.pool->kv(context.layer);
    launch(context.shared.device, context.stream,
           AddMaskedValue{.count = context.tokens * out.width,
                          .out = out.values,
                          .row = reinterpret_cast<const std::uint8_t*>(cache.value),
                          .weight = 0.0,
                          .dtype = static_cast<std::int64_t>(cache.dtype)});
  }
};

/// Index-K is written by advanced indexing, where -1 is the last row. In a batch without pads only
/// a capture's dummy batch has -1; it writes into a block of a live sequence.
class WrappedDummy final : public StepProgram {
 public:
  WrappedDummy(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)},
        negative_{repaired == Repaired::kYes ? NegativeSlot::kSkip : NegativeSlot::kWrap} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    write_main(write, write.slots, write.tokens);
    write_index(write, write.slots, write.tokens, negative_);
  }

 private:
  NegativeSlot negative_;
};

}  // namespace

void add_capture_side_effect_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<MaskedIndexGather>(
      "capture-side-effect", "null-page-key",
      "the dummy batch writes NaN into the null page, and the indexer's masked gather reads it",
      "--write-path two-step"));
  faults.push_back(fault_and_twin<MaskedValueGather>(
      "capture-side-effect", "null-page-value",
      "the dummy batch writes NaN into the null page, and dense attention's masked gather reads it",
      "--kv-dtype fp8_e5m2 --mode full"));
  faults.push_back(fault_and_twin<WrappedDummy>(
      "capture-side-effect", "wrapped-dummy",
      "captured between two requests, the dummy batch's slots -1 wrap to the last row, which is "
      "live",
      "--write-path two-step --tokens 4 --bucket 4 --capture-at live"));
}

}  // namespace graphsan::faults
