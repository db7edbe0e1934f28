#include <algorithm>
#include <optional>
#include <vector>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "probes/padding-metadata/fault_ops.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using device::Temporary;
using step::Arm;
using step::InputView;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::InsertPath;
using step::minimax_m3::LayerBuffers;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::StepProgram;

namespace {

/// A program with one index array of its own, built for each batch in memory that nobody cleared:
/// entries beyond the live lanes hold what was there.
class OwnMetadata : public StepProgram {
 public:
  OwnMetadata(std::shared_ptr<const InsertPath> path, Repaired repaired, std::string name)
      : StepProgram{std::move(path)}, repaired_{repaired}, name_{std::move(name)} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    shared_ = &shared;
    lanes_ = shared.plan.buckets().front();
    memory_.emplace(shared.device);
    entries_ = memory_->add<std::int64_t>(name_, static_cast<std::size_t>(lanes_));
    bind_more(*memory_);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    memory_->clear(stream);
    std::vector<std::int64_t> entries;
    for (int lane = 0; lane < lanes_; ++lane) entries.push_back(entry({}, lane));
    upload(shared.device, stream, entries);
  }
  void refill(const RefillContext& context) override {
    const int live = context.metadata.tokens;
    std::vector<std::int64_t> entries;
    for (int lane = 0; lane < context.metadata.length; ++lane) {
      const bool real = lane < live;
      entries.push_back(real ? entry(context.metadata.lanes[static_cast<std::size_t>(lane)], lane)
                             : pad_entry(lane, live));
    }
    upload(context.shared.device, context.stream, entries);
  }
  [[nodiscard]] std::vector<InputView> inputs(int step, Arm arm) const override {
    const model::StepFacts& batch = shared_->plan.step(step);
    const int lanes = arm == Arm::kEager ? batch.tokens : batch.bucket;
    return {{name_, entries_, 8, 8, lanes, model::DType::kI64, false, neutral(batch.tokens)}};
  }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

 protected:
  virtual void bind_more(NamedBuffers&) {}
  /// Of a live lane, and of every lane of a dummy batch, which is a Lane{}.
  [[nodiscard]] virtual std::int64_t entry(const model::Lane& lane, int index) const = 0;
  /// What a pad lane's entry must be.
  [[nodiscard]] virtual std::int64_t neutral(int live) const = 0;
  /// What lies in memory that nobody cleared: in range, so that nothing faults.
  [[nodiscard]] virtual std::int64_t garbage(int index) const = 0;

  [[nodiscard]] const ProgramContext& shared() const { return *shared_; }
  [[nodiscard]] const std::int64_t* entries() const { return entries_; }
  [[nodiscard]] int lanes() const { return lanes_; }

 private:
  [[nodiscard]] std::int64_t pad_entry(int index, int live) const {
    return repaired_ == Repaired::kYes ? neutral(live) : garbage(index);
  }
  void upload(device::Device& device, device::StreamRef stream,
              const std::vector<std::int64_t>& entries) const {
    device.copy(stream, entries_, entries.data(), entries.size() * sizeof(std::int64_t));
  }

  Repaired repaired_;
  std::string name_;
  const ProgramContext* shared_ = nullptr;
  std::optional<NamedBuffers> memory_;
  std::int64_t* entries_ = nullptr;
  int lanes_ = 0;
};

/// K and V are written for as many tokens as there are key rows, pads included; the slots beyond
/// the live ones are what the memory held.
class GarbageSlots final : public OwnMetadata {
 public:
  GarbageSlots(const Config& config, Repaired repaired)
      : OwnMetadata{separate_writes(config), repaired, "key slots"} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    write_main(write, entries(), write.tokens);
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  [[nodiscard]] std::int64_t entry(const model::Lane& lane, int) const override {
    return lane.slot;
  }
  [[nodiscard]] std::int64_t neutral(int) const override { return -1; }
  [[nodiscard]] std::int64_t garbage(int index) const override {
    return shared().plan.slot(0, (5 + index) % shared().plan.history());
  }
};

/// Index-K of the last layer is written for the lanes below the total, which is read from the last
/// of the running counts; only the live ones were filled.
class TotalFromTail final : public OwnMetadata {
 public:
  TotalFromTail(const Config& config, Repaired repaired)
      : OwnMetadata{separate_writes(config), repaired, "running token counts"},
        layer_{config.layers - 1} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.layer != layer_) return StepProgram::insert(context);
    write_main(write, write.slots, write.tokens);
    const Temporary kept{write.allocator,
                         static_cast<std::size_t>(write.tokens) * sizeof(std::int64_t)};
    auto* slots = kept.as<std::int64_t>();
    launch(write.device, write.stream, KeepBelowTotal{write.tokens, slots, write.slots, entries()});
    write_index(write, slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  [[nodiscard]] std::int64_t entry(const model::Lane&, int index) const override {
    return index + 1;
  }
  [[nodiscard]] std::int64_t neutral(int live) const override { return live; }
  [[nodiscard]] std::int64_t garbage(int) const override { return 0; }

  int layer_;
};

/// The sparse layers find a lane's sequence through an order; a pad lane's entry in it is garbage,
/// and the pad lane's sequence lands on a real lane.
class GarbageOrder final : public OwnMetadata {
 public:
  GarbageOrder(const Config& config, Repaired repaired)
      : OwnMetadata{make_insert_path(config), repaired, "lane order"} {}

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    launch(context.shared.device, context.stream,
           ReorderSequences{1, reordered_, context.lanes.lane_sequence, entries(), context.tokens});
    const ProgramContext& shared = context.shared;
    const LayerBuffers& buffers = layer_buffers(context);
    auto score = score_args(context.lanes, shared.config, shared.plan, *context.pool, context.layer,
                            context.tokens, buffers.scores);
    score.context.lane_sequence = reordered_;
    launch_indexer_score(shared.device, context.stream, score);
    launch_indexer_top_k(shared.device, context.stream,
                         top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                    buffers.scores, buffers.top_k));
  }
  void attention(const OpContext& context) override {
    const LayerBuffers& buffers = layer_buffers(context);
    if (buffers.top_k == nullptr || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    auto args = attention_args(context.lanes, context.shared.config, context.shared.plan,
                               *context.pool, context.layer, context.tokens, buffers.out);
    args.context.lane_sequence = reordered_;
    launch_attention(context.shared.device, context.stream, args);
  }

 private:
  static const LayerBuffers& layer_buffers(const OpContext& context) {
    return context.lanes.layers[static_cast<std::size_t>(context.layer)];
  }
  void bind_more(NamedBuffers& memory) override {
    reordered_ = memory.add<std::int32_t>("reordered sequences", static_cast<std::size_t>(lanes()));
  }
  [[nodiscard]] std::int64_t entry(const model::Lane&, int index) const override { return index; }
  [[nodiscard]] std::int64_t neutral(int) const override { return -1; }
  [[nodiscard]] std::int64_t garbage(int) const override { return 1; }

  std::int32_t* reordered_ = nullptr;
};

}  // namespace

void add_padding_metadata_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<GarbageSlots>(
      "padding-metadata", "garbage-slots",
      "K and V are written for every key row, and the slots beyond the live ones are garbage",
      "--kv-dtype fp8_e5m2 --write-path two-step"));
  faults.push_back(fault_and_twin<TotalFromTail>(
      "padding-metadata", "total-from-tail",
      "the last of the running token counts is taken for the total, and it was never filled",
      "--kv-dtype fp8_e4m3 --write-path two-step --layers 3"));
  faults.push_back(fault_and_twin<GarbageOrder>(
      "padding-metadata", "garbage-order",
      "a pad lane's garbage in the lane order gives a real lane the pad's sequence",
      "--mode full"));
}

}  // namespace graphsan::faults
