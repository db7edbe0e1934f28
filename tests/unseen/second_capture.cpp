#include <algorithm>

#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test::second {

using namespace step::minimax_m3;

namespace {

/// A trial of the write kernel before a capture uses free rows of the pool, and attention adds up
/// whole tiles, trusting that unwritten rows are zero.
class TrialRows final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    slots_ = add_lanes<std::int64_t>(shared, "trial slots");
  }
  void before_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    try_write(shared, stream, slots_, shared.config.layers - 1);
  }
  void attention(const OpContext& context) override {
    TwoStepProgram::attention(context);
    if (is_last(context)) add_tile_tail(context);
  }

 private:
  std::int64_t* slots_ = nullptr;
};

/// A dummy batch has no block table of its own: its slots come from the table of the last real
/// batch, at position 0.
struct SlotsFromTable {
  static constexpr const char* kName = "slots_from_table";
  std::int64_t* slots;
  const std::int32_t* block_table;
  const std::int32_t* lane_sequence;
  const std::int64_t* positions;
  const std::int32_t* lengths;  ///< 0: no slot
  std::int64_t table_stride;
  std::int64_t page_size;
  std::int64_t lanes;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, slots),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, block_table),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, lane_sequence),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, positions),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, lengths),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, table_stride),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, page_size),
        GRAPHSAN_ARGUMENT_FIELD(SlotsFromTable, lanes)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int32_t* table = block_table + lane_sequence[lane] * table_stride;
      slots[lane] = lengths[lane] <= 0 ? -1
                                       : context_slot(table, static_cast<std::int32_t>(page_size),
                                                      positions[lane]);
    }
  }
};

/// The op finds the slots itself; the warm-up's dummy tokens have a length of 1 and so a slot.
class TableOfLastBatch final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    slots_ = add_lanes<std::int64_t>(shared, "slots from table");
    ones_ = add_lanes<std::int32_t>(shared, "dummy lengths");
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    const std::vector<std::int32_t> ones(static_cast<std::size_t>(shared.persistent.capacity), 1);
    shared.device.copy(stream, ones_, ones.data(), ones.size() * sizeof(ones[0]));
  }
  void insert(const OpContext& context) override {
    const bool warm_up = !is_live(context) && !faults::is_captured(context);
    launch_on(context,
              SlotsFromTable{slots_, context.lanes.block_table, context.lanes.lane_sequence,
                             context.lanes.positions, warm_up ? ones_ : context.lanes.seq_lens,
                             context.shared.plan.table_stride(), context.shared.config.page_size,
                             context.tokens});
    InsertContext made = insert_context(context);
    made.slots = slots_;
    insert_path().insert(made);
  }

 private:
  std::int64_t* slots_ = nullptr;
  std::int32_t* ones_ = nullptr;
};

/// Scales the rotated half of each key by a ramp over its pairs.
struct RampKeys {
  static constexpr const char* kName = "ramp_keys";
  Rows rows;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {GRAPHSAN_ROWS_FIELDS(RampKeys)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width; ++i) {
        const auto pair = static_cast<float>(i % kHeadDim % kRotaryPairs);
        if (i % kHeadDim >= 2 * kRotaryPairs) continue;
        rows.set(lane, i, rows.get(lane, i) * (1.0F + pair / 64.0F));
      }
    }
  }
};

/// Contexts beyond the trained length get another rope. There is a graph of each kind, and the
/// dispatcher's key leaves the length out.
class LongRope final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override { plan_ = &shared.plan; }
  [[nodiscard]] int graph_kind(int step) const override {
    std::int64_t longest = 0;
    for (const model::Lane& lane : plan_->step(step).lanes) {
      longest = std::max(longest, lane.position + 1);
    }
    return longest > kTrained ? 1 : 0;
  }
  [[nodiscard]] int dispatched_kind(int) const override { return 0; }
  [[nodiscard]] std::int64_t dummy_context(int kind) const override {
    return kind == 0 ? 1 : kTrained + 1;
  }
  void insert(const OpContext& context) override {
    if (context.metadata != nullptr && context.metadata->max_context > kTrained) {
      launch_on(context, RampKeys{rows_of(faults::key_slice(context), context.tokens)});
    }
    TwoStepProgram::insert(context);
  }

 private:
  static constexpr std::int64_t kTrained = 4096;
  const BatchPlan* plan_ = nullptr;
};

/// rows[lane, i] += delta[i]: an adapter.
struct AddAdapter {
  static constexpr const char* kName = "add_adapter";
  Rows rows;
  const float* delta;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(AddAdapter), GRAPHSAN_ARGUMENT_FIELD(AddAdapter, delta)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width; ++i) {
        rows.set(lane, i, rows.get(lane, i) + delta[i % kHeadDim]);
      }
    }
  }
};

/// Every other batch uses an adapter. All are taken for batches that do.
class AdapterGraphs final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    delta_ = add<float>(shared, "adapter", kHeadDim);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    std::vector<float> delta;
    for (int i = 0; i < kHeadDim; ++i) delta.push_back(0.25F * static_cast<float>(i % 5));
    shared.device.copy(stream, delta_, delta.data(), delta.size() * sizeof(delta[0]));
  }
  [[nodiscard]] int graph_kind(int step) const override { return step % 2; }
  [[nodiscard]] int dispatched_kind(int) const override { return 1; }
  [[nodiscard]] std::int64_t dummy_context(int kind) const override { return kDummy[kind]; }
  void insert(const OpContext& context) override {
    if (is_last(context) && uses_adapter(context.metadata)) {
      launch_on(context, AddAdapter{rows_of(faults::value_slice(context), context.tokens), delta_});
    }
    TwoStepProgram::insert(context);
  }

 private:
  static constexpr std::int64_t kDummy[] = {1, 2};  ///< tells the captures of the kinds apart

  [[nodiscard]] bool uses_adapter(const Metadata* metadata) const {
    if (metadata == nullptr) return false;
    return metadata->step >= 0 ? graph_kind(metadata->step) == 1
                               : metadata->max_context == kDummy[1];
  }

  float* delta_ = nullptr;
};

}  // namespace

void add_capture_faults(std::vector<UnseenFault>& faults) {
  faults.push_back(unseen<TrialRows>("capture-side-effect", "trial-rows",
                                     "--kv-dtype bf16 --write-path two-step --mode full"));
  faults.push_back(
      unseen<TableOfLastBatch>("capture-side-effect", "table-of-last-batch",
                               "--kv-dtype fp8_e4m3 --write-path two-step --capture-at live"));
  faults.push_back(unseen<LongRope>("wrong-graph", "long-rope",
                                    "--kv-dtype fp8_e5m2 --write-path two-step --mode full"));
  faults.push_back(unseen<AdapterGraphs>(
      "wrong-graph", "adapter", "--kv-dtype bf16 --write-path two-step --mode full --tokens 4"));
}

}  // namespace graphsan::test::second
