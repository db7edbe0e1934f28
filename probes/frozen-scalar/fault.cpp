#include <algorithm>
#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_common_ops.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "step/minimax_m3/launch_dims.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

/// A program with memory of its own at fixed addresses.
class ScalarProgram : public StepProgram {
 public:
  ScalarProgram(std::shared_ptr<const InsertPath> path, Repaired repaired)
      : StepProgram{std::move(path)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    memory_.emplace(shared.device);
    add_memory(*memory_, static_cast<std::size_t>(shared.persistent.capacity));
  }
  void describe(device::AddressMap& map) const override {
    if (memory_) memory_->describe(map);
  }

 protected:
  virtual void add_memory(NamedBuffers&, std::size_t /*lanes*/) {}
  [[nodiscard]] bool repaired() const { return repaired_ == Repaired::kYes; }
  /// The slot of a lane as the host knows it, negative for a pad lane or a dummy batch.
  [[nodiscard]] static std::int64_t host_slot(const OpContext& context, std::int64_t lane) {
    if (!is_live(context.metadata)) return -1;
    return context.metadata->lanes[static_cast<std::size_t>(lane)].slot;
  }

 private:
  Repaired repaired_;
  std::optional<NamedBuffers> memory_;
};

/// Slots counted up on the device from the first free one of each run, which is passed by value.
class FirstFreeSlot final : public ScalarProgram {
 public:
  FirstFreeSlot(const Config& config, Repaired repaired)
      : ScalarProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    if (!repaired()) {
      for (std::int64_t lane = 0; lane < made.tokens;) lane += count_up(context, lane);
      made.slots = slots_;
    }
    insert_path().insert(made);
  }

 protected:
  void add_memory(NamedBuffers& memory, std::size_t lanes) override {
    slots_ = memory.add<std::int64_t>("counted slots", lanes);
  }

 private:
  /// Launches one run from `lane` on; its length.
  [[nodiscard]] std::int64_t count_up(const OpContext& context, std::int64_t lane) {
    const std::int64_t first = host_slot(context, lane);
    std::int64_t count = 1;
    while (lane + count < context.tokens) {
      const std::int64_t next = host_slot(context, lane + count);
      if (first < 0 ? next >= 0 : next != first + count) break;
      ++count;
    }
    // Nothing is free for a dummy batch: the run ends before slot 0.
    launch(context.shared.device, context.stream,
           SlotsFromStart{
               .count = count, .slots = slots_ + lane, .start = first < 0 ? -count : first});
    return count;
  }

  std::int64_t* slots_ = nullptr;
};

/// Index-K rows copied one by one to where the host says; rows without a slot go to a spare row.
class CopyPerRow final : public ScalarProgram {
 public:
  CopyPerRow(const Config& config, Repaired repaired)
      : ScalarProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    write_main(made, made.slots, made.tokens);
    if (repaired()) return write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
    if (made.index_cache.base == nullptr) return;
    const std::uint16_t* index_k = made.qkv + (made.row_width - kHeadDim);
    for (std::int64_t lane = 0; lane < made.tokens; ++lane) {
      const std::int64_t slot = host_slot(context, lane);
      std::uint16_t* to = slot < 0 ? spare_ : made.index_cache.base + slot * kHeadDim;
      made.device.copy(made.stream, to, index_k + lane * made.row_width,
                       kHeadDim * sizeof(std::uint16_t));
    }
  }

 protected:
  void add_memory(NamedBuffers& memory, std::size_t) override {
    spare_ = memory.add<std::uint16_t>("spare index row", kHeadDim);
  }

 private:
  std::uint16_t* spare_ = nullptr;
};

/// K and V written by as many thread blocks as there are live tokens.
class GridByLength final : public ScalarProgram {
 public:
  GridByLength(const Config& config, Repaired repaired)
      : ScalarProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    const std::int32_t live = is_live(context.metadata) ? context.metadata->tokens : 1;
    const std::uint16_t* key = made.qkv + static_cast<std::ptrdiff_t>(made.heads.q) * kHeadDim;
    const ReshapeAndCacheArgs args{
        .key = key,
        .value = key + static_cast<std::ptrdiff_t>(made.heads.kv) * kHeadDim,
        .key_stride = made.row_width,
        .value_stride = made.row_width,
        .slots = made.slots,
        .k_scale = nullptr,
        .v_scale = nullptr,
        .cache = made.cache,
        .tokens = made.tokens,
        .scale_count = 1};
    made.device.launch(made.stream, reshape_and_cache_kernel(),
                       lane_dims(repaired() ? made.tokens : live), &args);
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }
};

/// Sparse layers see lengths clamped to the longest context that the host knows of.
class LongestContext final : public ScalarProgram {
 public:
  LongestContext(const Config& config, Repaired repaired)
      : ScalarProgram{make_insert_path(config), repaired} {}

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const std::int64_t capacity =
        std::int64_t{shared.plan.table_stride()} * shared.config.page_size;
    launch(shared.device, context.stream,
           ClampLengths{.count = context.tokens,
                        .clamped = clamped_,
                        .lengths = context.lanes.seq_lens,
                        .longest = repaired() ? capacity : context.metadata->max_context});
    const LayerBuffers& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
    IndexerScoreArgs score = score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                        context.layer, context.tokens, buffers.scores);
    score.context.seq_lens = clamped_;
    launch_indexer_score(shared.device, context.stream, score);
    IndexerTopKArgs top_k = top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                       buffers.scores, buffers.top_k);
    top_k.seq_lens = clamped_;
    launch_indexer_top_k(shared.device, context.stream, top_k);
  }

 protected:
  void add_memory(NamedBuffers& memory, std::size_t lanes) override {
    clamped_ = memory.add<std::int32_t>("clamped lengths", lanes);
  }

 private:
  std::int32_t* clamped_ = nullptr;
};

}  // namespace

void add_frozen_scalar_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<FirstFreeSlot>(
      {.id = "frozen-scalar",
       .variant = "first-slot",
       .description = "the first free slot is passed to a kernel as a number",
       .options = "--kv-dtype fp8_e5m2 --write-path two-step --batch prefill --tokens 2"}));
  faults.push_back(planted<CopyPerRow>(
      {.id = "frozen-scalar",
       .variant = "copy-destination",
       .description = "index-K rows are copied to addresses that the host computes",
       .options = "--kv-dtype bf16 --write-path two-step --mode full"}));
  faults.push_back(planted<GridByLength>(
      {.id = "frozen-scalar",
       .variant = "grid",
       .description = "K and V are written by as many blocks as the host counts tokens",
       .options = "--kv-dtype bf16 --write-path two-step --tokens 6 --layout hnd"}));
  faults.push_back(planted<LongestContext>(
      {.id = "frozen-scalar",
       .variant = "longest-context",
       .description = "the longest context of the batch is passed to the indexer as a number",
       .options = "--kv-dtype fp8_e4m3 --mode full"}));
}

}  // namespace graphsan::faults
