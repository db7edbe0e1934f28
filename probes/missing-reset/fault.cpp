#include <algorithm>
#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/missing-reset/fault_ops.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using step::OpaqueView;
using step::minimax_m3::Config;
using step::minimax_m3::heads_for;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::StepProgram;

namespace {

/// A program with state that a launch expects to be zero and leaves changed.
class StatefulProgram : public StepProgram {
 public:
  StatefulProgram(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    memory_.emplace(shared.device);
    make_state(shared);
    clear(shared.device, stream);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    clear(shared.device, stream);
  }
  [[nodiscard]] std::vector<OpaqueView> opaque() const override { return {state_}; }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

 protected:
  /// Allocates in `memory_` and sets `state_`.
  virtual void make_state(const ProgramContext& shared) = 0;
  void clear(device::Device& device, device::StreamRef stream) const {
    device.fill(stream, state_.address, 0, static_cast<std::size_t>(state_.bytes));
  }
  /// The fault: host code that finds itself captured leaves the reset to whoever replays.
  void clear_before_launch(const OpContext& context) const {
    if (repaired_ == Repaired::kNo && is_captured(context)) return;
    clear(context.shared.device, context.stream);
  }
  [[nodiscard]] static std::size_t capacity(const ProgramContext& shared) {
    return static_cast<std::size_t>(std::max(shared.exact.capacity, shared.persistent.capacity));
  }

  Repaired repaired_;
  int layer_;  ///< the one whose op keeps state: the last, where nothing overrides it
  std::optional<NamedBuffers> memory_;
  OpaqueView state_;
};

/// Attention of the last layer ends with a split reduction whose counters the host's plan() clears
/// before an eager run; a replay has no plan().
class ArrivalsNotReset final : public StatefulProgram {
 public:
  using StatefulProgram::StatefulProgram;

  void refill(const RefillContext& context) override {
    if (repaired_ == Repaired::kNo && !replays(context)) {
      clear(context.shared.device, context.stream);
    }
  }
  void after_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    clear(shared.device, stream);
  }
  void attention(const OpContext& context) override {
    if (context.layer != layer_ || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    const HeadSlice out = output_slice(context);
    launch_attention(shared.device, context.stream,
                     attention_args(context.lanes, shared.config, shared.plan, *context.pool,
                                    context.layer, context.tokens, reduced_));
    if (repaired_ == Repaired::kYes) clear(shared.device, context.stream);
    launch(shared.device, context.stream,
           PublishByLastSplit{.count = context.tokens * kSplits,
                              .arrivals = static_cast<std::int32_t*>(state_.address),
                              .splits = kSplits,
                              .reduced = reduced_,
                              .out = out.values,
                              .width = out.width});
  }

 private:
  static constexpr std::int64_t kSplits = 4;

  void make_state(const ProgramContext& shared) override {
    const auto width =
        static_cast<std::size_t>(heads_for(shared.config.tp, true).q) * step::minimax_m3::kHeadDim;
    reduced_ = memory_->add<std::uint16_t>("reduced output", capacity(shared) * width);
    state_ = {"split arrivals", memory_->add<std::int32_t>("split arrivals", capacity(shared)),
              static_cast<std::int64_t>(capacity(shared) * sizeof(std::int32_t))};
  }

  std::uint16_t* reduced_ = nullptr;
};

/// V of layer 0 is a sum of two splits, added up in a workspace.
class SumsNotReset final : public StatefulProgram {
 public:
  SumsNotReset(const Config& config, Repaired repaired) : StatefulProgram{config, repaired} {
    layer_ = 0;
  }

  void insert(const OpContext& context) override {
    if (context.layer == layer_ && context.pool != nullptr) add_up(context);
    StepProgram::insert(context);
  }

 private:
  void add_up(const OpContext& context) const {
    device::Device& device = context.shared.device;
    const HeadSlice value = value_slice(context);
    auto* sums = static_cast<float*>(state_.address);
    const std::int64_t count = context.tokens * value.width;
    clear_before_launch(context);
    const AddSplit split{count, sums, value.values, value.stride, value.width, 0.5};
    launch(device, context.stream, split);
    launch(device, context.stream, split);
    launch(device, context.stream, StoreSum{count, sums, value.values, value.stride, value.width});
  }
  void make_state(const ProgramContext& shared) override {
    const auto width =
        static_cast<std::size_t>(heads_for(shared.config.tp, true).kv) * step::minimax_m3::kHeadDim;
    state_ = {"split sums", memory_->add<float>("split sums", capacity(shared) * width),
              static_cast<std::int64_t>(capacity(shared) * width * sizeof(float))};
  }
};

/// Index-K of the last layer is written through a list of slots that a cursor fills.
class CursorNotReset final : public StatefulProgram {
 public:
  using StatefulProgram::StatefulProgram;

  void insert(const OpContext& context) override {
    if (context.layer != layer_ || context.pool == nullptr) return StepProgram::insert(context);
    device::Device& device = context.shared.device;
    const auto write = insert_context(context);
    device.fill(context.stream, packed_, 0xFF,
                static_cast<std::size_t>(context.tokens) * sizeof(std::int64_t));
    clear_before_launch(context);
    launch(device, context.stream,
           PackSlots{.count = 1,
                     .lanes = context.tokens,
                     .slots = context.lanes.slots,
                     .packed = packed_,
                     .capacity = context.tokens,
                     .cursor = static_cast<std::int64_t*>(state_.address)});
    write_main(write, write.slots, write.tokens);
    write_index(write, packed_, write.tokens, NegativeSlot::kSkip);
  }

 private:
  void make_state(const ProgramContext& shared) override {
    packed_ = memory_->add<std::int64_t>("packed slots", capacity(shared));
    state_ = {"slot cursor", memory_->add<std::int64_t>("slot cursor", 1), sizeof(std::int64_t)};
  }

  std::int64_t* packed_ = nullptr;
};

}  // namespace

void add_missing_reset_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<ArrivalsNotReset>(
      {"missing-reset", "arrivals",
       "the last of four splits publishes the last layer's output, and no replay clears the count",
       "--mode full"}));
  faults.push_back(planted<SumsNotReset>(
      {"missing-reset", "sums",
       "V of layer 0 is summed up in a workspace that is cleared only outside a capture",
       "--kv-dtype fp8_e5m2 --write-path two-step"}));
  faults.push_back(planted<CursorNotReset>(
      {"missing-reset", "cursor",
       "index-K of the last layer goes through a slot list whose cursor runs on",
       "--kv-dtype fp8_e4m3 --write-path two-step --mode full --layers 3"}));
}

}  // namespace graphsan::faults
