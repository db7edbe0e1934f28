#include <algorithm>
#include <optional>
#include <vector>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "probes/padding-write/fault_ops.hpp"

namespace graphsan::faults {

using device::Temporary;
using step::Arm;
using step::InputView;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::StepProgram;

namespace {

/// "A slot is never negative": all writes of all layers get slots that were clamped to 0.
class ClampedToZero final : public StepProgram {
 public:
  ClampedToZero(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, lowest_{repaired == Repaired::kYes ? -1 : 0} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    const Temporary clamped{write.allocator,
                            static_cast<std::size_t>(write.tokens) * sizeof(std::int64_t)};
    auto* slots = clamped.as<std::int64_t>();
    launch(write.device, write.stream, ClampSlots{write.tokens, slots, write.slots, lowest_});
    write_main(write, slots, write.tokens);
    write_index(write, slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  std::int64_t lowest_;
};

/// K and V of the last layer go by a slot buffer of their own. Between two steps a request more was
/// there for a while, and moved the others one lane down; the refill overwrites the live lanes
/// only.
class UnclearedTail final : public StepProgram {
 public:
  UnclearedTail(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    shared_ = &shared;
    memory_.emplace(shared.device);
    list_.assign(static_cast<std::size_t>(shared.plan.buckets().front()), -1);
    slots_ = memory_->add<std::int64_t>(kName, list_.size());
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    std::fill(list_.begin(), list_.end(), -1);
    shared.device.fill(stream, slots_, 0xFF, list_.size() * sizeof(std::int64_t));
  }
  void refill(const RefillContext& context) override {
    std::copy_backward(list_.begin(), std::prev(list_.end()), list_.end());
    const auto live = static_cast<std::size_t>(context.metadata.tokens);
    for (std::size_t lane = 0; lane < live; ++lane) {
      list_[lane] = context.metadata.lanes[lane].slot;
    }
    if (repaired_ == Repaired::kYes) {
      std::fill(list_.begin() + static_cast<std::ptrdiff_t>(live), list_.end(), -1);
    }
    context.shared.device.copy(context.stream, slots_, list_.data(),
                               list_.size() * sizeof(std::int64_t));
  }
  [[nodiscard]] std::vector<InputView> inputs(int step, Arm arm) const override {
    const model::StepFacts& batch = shared_->plan.step(step);
    const int lanes = arm == Arm::kEager ? batch.tokens : batch.bucket;
    return {{kName, slots_, 8, 8, lanes, model::DType::kI64, false, -1}};
  }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.layer != layer_) return StepProgram::insert(context);
    write_main(write, slots_, write.tokens);
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  static constexpr const char* kName = "main slot buffer";

  Repaired repaired_;
  int layer_;
  const ProgramContext* shared_ = nullptr;
  std::optional<NamedBuffers> memory_;
  std::int64_t* slots_ = nullptr;
  std::vector<std::int64_t> list_;  ///< the host's copy, where earlier entries stay
};

/// Index-K of the last layer is written by page and offset, divided with no thought of -1.
class TruncatingDivision final : public StepProgram {
 public:
  TruncatingDivision(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.layer != layer_) return StepProgram::insert(context);
    write_main(write, write.slots, write.tokens);
    const Temporary packed{
        write.allocator, static_cast<std::size_t>(write.tokens) * kHeadDim * sizeof(std::uint16_t)};
    pack_heads(write, write.heads.q + 2 * write.heads.kv + write.heads.index_q, 1,
               packed.as<std::uint16_t>());
    launch(write.device, write.stream,
           WriteByPage{.count = std::int64_t{write.tokens} * kHeadDim,
                       .cache = write.index_cache.base,
                       .rows = packed.as<std::uint16_t>(),
                       .slots = write.slots,
                       .width = kHeadDim,
                       .page_size = context.shared.config.page_size,
                       .skips_negative = repaired_ == Repaired::kYes ? 1 : 0});
  }

 private:
  Repaired repaired_;
  int layer_;
};

}  // namespace

void add_padding_write_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<ClampedToZero>(
      "padding-write", "clamped-slot", "all slots are clamped to 0: pad lanes write slot 0",
      "--kv-dtype fp8_e5m2 --write-path two-step"));
  faults.push_back(fault_and_twin<UnclearedTail>(
      "padding-write", "uncleared-tail",
      "K and V of the last layer go by a slot buffer whose tail holds an earlier batch's slots",
      "--write-path two-step --mode full --layers 3"));
  faults.push_back(fault_and_twin<TruncatingDivision>(
      "padding-write", "truncating-division",
      "index-K of the last layer is written by page and offset, and -1 lies before page 0",
      "--kv-dtype fp8_e4m3 --write-path two-step --page-size 64"));
}

}  // namespace graphsan::faults
