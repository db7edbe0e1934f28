#include <optional>
#include <vector>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_common_ops.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using device::Temporary;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::LayerBuffers;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

/// A tensor of one op that a later one reads. Host code that finds itself captured keeps only its
/// address: "the graph pool keeps it alive".
class Handle {
 public:
  void* make(const OpContext& context, std::size_t bytes, Repaired repaired) {
    block_.emplace(context.shared.allocator, bytes);
    void* address = block_->data();
    if (repaired == Repaired::kNo && is_captured(context)) block_.reset();
    return address;
  }
  void drop() { block_.reset(); }

 private:
  std::optional<Temporary> block_;
};

/// The indexer hands its selection to attention in a tensor; attention's workspace has its size.
class SelectionDropped final : public StepProgram {
 public:
  SelectionDropped(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired} {}

  void indexer(const OpContext& context) override {
    StepProgram::indexer(context);
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const std::size_t bytes = selection_bytes(context);
    selection_ = static_cast<std::int32_t*>(handle_.make(context, bytes, repaired_));
    context.shared.device.copy(context.stream, selection_, buffers(context).top_k, bytes);
  }
  void attention(const OpContext& context) override {
    const bool sparse = buffers(context).top_k != nullptr;
    if (!sparse || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    const std::size_t bytes = selection_bytes(context);
    const Temporary workspace{shared.allocator, bytes};
    step::minimax_m3::launch_fill_float(
        shared.device, context.stream,
        {workspace.as<float>(), static_cast<std::int32_t>(bytes / sizeof(float)), 0.0F});
    step::minimax_m3::AttentionArgs args =
        attention_args(context.lanes, shared.config, shared.plan, *context.pool, context.layer,
                       context.tokens, buffers(context).out);
    args.top_k = selection_;
    launch_attention(shared.device, context.stream, args);
    handle_.drop();
  }

 private:
  [[nodiscard]] static const LayerBuffers& buffers(const OpContext& context) {
    return context.lanes.layers[static_cast<std::size_t>(context.layer)];
  }
  [[nodiscard]] static std::size_t selection_bytes(const OpContext& context) {
    return static_cast<std::size_t>(heads_of(context).index_q) *
           static_cast<std::size_t>(context.lanes.capacity) *
           static_cast<std::size_t>(context.shared.config.top_k) * sizeof(std::int32_t);
  }

  Repaired repaired_;
  Handle handle_;
  std::int32_t* selection_ = nullptr;
};

/// Index-K is packed first and written last; K is packed in between, into a block of that size.
class PackedIndexDropped final : public StepProgram {
 public:
  PackedIndexDropped(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.heads.index_k == 0) return StepProgram::insert(context);
    const std::int64_t key_stride = static_cast<std::int64_t>(write.heads.kv) * kHeadDim;
    const std::size_t bytes =
        static_cast<std::size_t>(write.tokens * key_stride) * sizeof(std::uint16_t);
    auto* index_key = static_cast<std::uint16_t*>(handle_.make(context, bytes, repaired_));
    pack_heads(write, write.heads.q + 2 * write.heads.kv + write.heads.index_q, 1, index_key);
    const Temporary key{write.allocator, bytes};
    pack_heads(write, write.heads.q, write.heads.kv, key.as<std::uint16_t>());
    write_main_from(write, write.slots, {.key = key.as<std::uint16_t>(), .key_stride = key_stride});
    write_packed_index(write, index_key, write.slots);
    handle_.drop();
  }

 private:
  Repaired repaired_;
  Handle handle_;
};

/// A prefill measures the scale of K for the decode steps that follow. In a graph the scale is born
/// in the capture of the prefill's bucket, and its handle goes when that capture ends: the decode
/// bucket's graph, captured next, gets the block for a temporary.
class ScaleOfOtherBucket final : public StepProgram {
 public:
  ScaleOfOtherBucket(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    memory_.emplace(shared.device);
    eager_scale_ = memory_->add<float>("key scale", 1);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    step::minimax_m3::launch_fill_float(shared.device, stream, {eager_scale_, 1, 1.0F});
  }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }
  void before_capture(const ProgramContext& shared, device::StreamRef, int bucket) override {
    if (bucket == shared.plan.buckets().front()) graph_scale_ = nullptr;
  }
  void after_capture(const ProgramContext&, device::StreamRef, int) override {
    if (repaired_ == Repaired::kNo) handles_.clear();
  }

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    float* scale = scale_for(context);
    const bool measures = write.tokens > 1 && write.layer == 0;
    if (measures) {
      launch(write.device, write.stream,
             ScaleOverLanes{.count = 1,
                            .scale = scale,
                            .values = key_slice(context).values,
                            .stride = write.row_width,
                            .width = static_cast<std::int64_t>(write.heads.kv) * kHeadDim,
                            .slots = write.slots,
                            .lanes = write.tokens,
                            .largest = kLargestE4M3});
    }
    write_main_from(write, write.slots, {.k_scale = scale});
    write_index(write, write.slots, write.tokens, step::minimax_m3::NegativeSlot::kSkip);
  }

 private:
  /// Born lazily, where it is first needed.
  float* scale_for(const OpContext& context) {
    const bool has_prefill = context.shared.plan.buckets().front() > 1;
    if (!is_captured(context) || !has_prefill) return eager_scale_;
    if (graph_scale_ == nullptr) {
      handles_.emplace_back(context.shared.allocator, sizeof(float));
      graph_scale_ = handles_.back().as<float>();
    }
    return graph_scale_;
  }

  Repaired repaired_;
  std::optional<NamedBuffers> memory_;
  float* eager_scale_ = nullptr;
  float* graph_scale_ = nullptr;
  std::vector<Temporary> handles_;
};

}  // namespace

void add_pool_alias_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<SelectionDropped>(
      "pool-alias", "selection",
      "while capturing, the selection's block is given back before attention reads it, and goes to "
      "attention's workspace",
      "--mode full"));
  faults.push_back(fault_and_twin<PackedIndexDropped>(
      "pool-alias", "packed-index-key",
      "while capturing, packed index-K is given back before it is written, and K is packed into it",
      "--kv-dtype fp8_e4m3 --write-path two-step"));
  faults.push_back(fault_and_twin<ScaleOfOtherBucket>(
      "pool-alias", "other-bucket",
      "the scale that the prefill's graph leaves for decode lies in a block that the decode "
      "bucket's graph uses for a temporary",
      "--kv-dtype fp8_e5m2 --write-path two-step --batch prompt"));
}

}  // namespace graphsan::faults
