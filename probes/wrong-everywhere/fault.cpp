#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::AttentionArgs;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::KvCacheArg;
using step::minimax_m3::launch_fill_float;
using step::minimax_m3::launch_reshape_and_cache;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

/// Attention that finds the main cache described otherwise than it was written, in both modes.
class MisreadCache : public StepProgram {
 public:
  MisreadCache(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired} {}

  void attention(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    AttentionArgs args =
        attention_args(context.lanes, shared.config, shared.plan, *context.pool, context.layer,
                       context.tokens, output_slice(context).values);
    if (repaired_ == Repaired::kNo) misread(args.cache);
    launch_attention(shared.device, context.stream, args);
  }

 private:
  virtual void misread(KvCacheArg& cache) const = 0;

  Repaired repaired_;
};

/// One fp8 format is read as the other.
class OtherFormat final : public MisreadCache {
 public:
  using MisreadCache::MisreadCache;

 private:
  void misread(KvCacheArg& cache) const override {
    if (cache.dtype == model::DType::kBf16) return;
    cache.dtype =
        cache.dtype == model::DType::kFp8E4M3 ? model::DType::kFp8E5M2 : model::DType::kFp8E4M3;
  }
};

/// Rows that were written token by token are read head by head.
class OtherLayout final : public MisreadCache {
 public:
  using MisreadCache::MisreadCache;

 private:
  void misread(KvCacheArg& cache) const override {
    cache.slot_stride /= cache.heads;
    cache.head_stride = cache.slot_stride * cache.page_size;
  }
};

/// K is stored at twice the scale that attention reads it with.
class ScaledTwice final : public StepProgram {
 public:
  ScaledTwice(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, scale_{repaired == Repaired::kYes ? 1.0F : 2.0F} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    const device::Temporary scales{write.allocator, 2 * sizeof(float)};
    auto* key_scale = scales.as<float>();
    launch_fill_float(write.device, write.stream, {key_scale, 1, scale_});
    launch_fill_float(write.device, write.stream, {key_scale + 1, 1, 1.0F});
    const HeadSlice key = key_slice(context);
    const HeadSlice value = value_slice(context);
    launch_reshape_and_cache(write.device, write.stream,
                             {.key = key.values,
                              .value = value.values,
                              .key_stride = key.stride,
                              .value_stride = value.stride,
                              .slots = write.slots,
                              .k_scale = key_scale,
                              .v_scale = key_scale + 1,
                              .cache = write.cache,
                              .tokens = write.tokens,
                              .scale_count = 1});
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  float scale_;
};

/// The indexer takes the newest blocks whatever their score.
class NewestBlocks final : public StepProgram {
 public:
  NewestBlocks(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, local_blocks_{repaired == Repaired::kYes ? 1 : 8} {}

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const auto& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
    launch_indexer_score(shared.device, context.stream,
                         score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                    context.layer, context.tokens, buffers.scores));
    auto args = top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                           buffers.scores, buffers.top_k);
    args.local_blocks = local_blocks_;
    launch_indexer_top_k(shared.device, context.stream, args);
  }

 private:
  int local_blocks_;
};

}  // namespace

void add_wrong_everywhere_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<OtherFormat>({"wrong-everywhere", "format",
                                         "attention reads e4m3 bytes as e5m2, in both modes",
                                         "--kv-dtype fp8_e4m3 --write-path two-step"}));
  faults.push_back(
      planted<OtherLayout>({"wrong-everywhere", "layout",
                            "attention reads token-major pages as head-major, in both modes",
                            "--mode full --tp 2 --layout nhd"}));
  faults.push_back(planted<ScaledTwice>(
      {"wrong-everywhere", "scale", "K is stored at half its value, in both modes",
       "--kv-dtype fp8_e5m2 --write-path two-step --mode full --layers 3"}));
  faults.push_back(planted<NewestBlocks>(
      {"wrong-everywhere", "selection",
       "the indexer always takes the eight newest blocks, in both modes", "--mode full"}));
}

}  // namespace graphsan::faults
