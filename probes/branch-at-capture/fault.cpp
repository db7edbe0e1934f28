#include "probes/branch-at-capture/fault_ops.hpp"

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

/// Host code that branches on the longest context. Repaired, a capture is given the longest one
/// that there can be.
class BranchingProgram : public StepProgram {
 public:
  BranchingProgram(std::shared_ptr<const InsertPath> path, Repaired repaired)
      : StepProgram{std::move(path)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    capacity_ = std::int64_t{shared.plan.max_blocks()} * kBlockSize;
  }

  [[nodiscard]] std::int64_t dummy_context(int kind) const override {
    return repaired_ == Repaired::kYes ? capacity_ : StepProgram::dummy_context(kind);
  }

 protected:
  /// Every block of every lane is selected anyway.
  [[nodiscard]] static bool selects_all(const OpContext& context) {
    const std::int64_t selected = std::int64_t{context.shared.config.top_k} * kBlockSize;
    return context.metadata->max_context <= selected;
  }

 private:
  Repaired repaired_;
  std::int64_t capacity_ = 0;
};

/// Scores nothing where every visible block is selected.
class ShortContextTopK final : public BranchingProgram {
 public:
  ShortContextTopK(const Config& config, Repaired repaired)
      : BranchingProgram{make_insert_path(config), repaired} {}

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || !selects_all(context)) return StepProgram::indexer(context);
    const Config& config = context.shared.config;
    const LayerBuffers& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
    const std::int64_t heads = heads_for(config.tp, true).index_q;
    launch(context.shared.device, context.stream,
           FirstBlocks{.count = heads * context.tokens * config.top_k,
                       .top_k = buffers.top_k,
                       .seq_lens = context.lanes.seq_lens,
                       .lanes = context.tokens,
                       .lane_stride = context.lanes.capacity,
                       .k = config.top_k});
  }
};

/// Attends densely where every visible block is selected: the same result without the gather.
class DenseWhenShort final : public BranchingProgram {
 public:
  DenseWhenShort(const Config& config, Repaired repaired)
      : BranchingProgram{make_insert_path(config), repaired} {}

  void attention(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    AttentionArgs args = attention_args(
        context.lanes, shared.config, shared.plan, *context.pool, context.layer, context.tokens,
        context.lanes.layers[static_cast<std::size_t>(context.layer)].out);
    if (selects_all(context)) args.top_k = nullptr;
    launch_attention(shared.device, context.stream, args);
  }
};

/// Takes the slots for one run where the batch holds the whole context: a prompt's first chunk.
class FirstChunkWrite final : public BranchingProgram {
 public:
  FirstChunkWrite(const Config& config, Repaired repaired)
      : BranchingProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    const Metadata* metadata = context.metadata;
    if (metadata == nullptr || metadata->max_context > context.tokens) {
      return insert_path().insert(made);
    }
    const device::Temporary run{made.allocator,
                                static_cast<std::size_t>(made.tokens) * sizeof(std::int64_t)};
    launch(made.device, made.stream,
           RunOfSlots{.count = made.tokens, .run = run.as<std::int64_t>(), .slots = made.slots});
    made.slots = run.as<std::int64_t>();
    insert_path().insert(made);
  }
};

}  // namespace

void add_branch_at_capture_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<ShortContextTopK>(
      {.id = "branch-at-capture",
       .variant = "short-context",
       .description = "the dummy context needs no scores: the first k blocks are recorded",
       .options = "--mode full"}));
  faults.push_back(planted<DenseWhenShort>(
      {.id = "branch-at-capture",
       .variant = "dense-attention",
       .description = "the dummy context is short: attention over all blocks is recorded",
       .options = "--mode full-decode-only --kv-dtype fp8_e4m3 --write-path two-step --layers 3"}));
  faults.push_back(planted<FirstChunkWrite>(
      {.id = "branch-at-capture",
       .variant = "first-chunk",
       .description = "the dummy batch looks like a prompt's first chunk: one run of slots",
       .options = "--mode full --kv-dtype fp8_e5m2 --write-path two-step --layout hnd"}));
}

}  // namespace graphsan::faults
