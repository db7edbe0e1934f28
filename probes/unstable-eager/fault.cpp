#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/unstable-eager/fault_ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

/// A kernel of the last layer whose result depends on how its threads race, in both modes. So that
/// it can be reproduced, a counter of runs that nothing resets, and that the step does not declare,
/// stands for the scheduling. Repaired: a fixed order.
class RacyProgram : public StepProgram {
 public:
  RacyProgram(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    memory_.emplace(shared.device);
    runs_ = memory_->add<std::uint64_t>("scheduling", 1);
    memory_->clear(stream);
  }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

 protected:
  [[nodiscard]] bool concerns(const OpContext& context) const {
    return context.layer == layer_ && context.pool != nullptr;
  }
  /// Launches `Op` over `count` elements of the slice.
  template <typename Op>
  void race(const OpContext& context, const HeadSlice& slice, std::int64_t count) const {
    launch(context.shared.device, context.stream, CountRun{1, runs_});
    launch(context.shared.device, context.stream,
           Op{count, slice.values, slice.stride, slice.width,
              repaired_ == Repaired::kYes ? nullptr : runs_});
  }

 private:
  Repaired repaired_;
  int layer_;
  std::optional<NamedBuffers> memory_;
  std::uint64_t* runs_ = nullptr;
};

/// V is added up in the order of arrival.
class RacyValue final : public RacyProgram {
 public:
  using RacyProgram::RacyProgram;

  void insert(const OpContext& context) override {
    if (concerns(context)) {
      const HeadSlice value = value_slice(context);
      race<AddInArrivalOrder>(context, value, context.tokens * value.width);
    }
    StepProgram::insert(context);
  }
};

/// The output is added up in the order of arrival.
class RacyOutput final : public RacyProgram {
 public:
  using RacyProgram::RacyProgram;

  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    if (!concerns(context) || context.metadata == nullptr) return;
    const HeadSlice out = output_slice(context);
    race<AddInArrivalOrder>(context, out, context.tokens * out.width);
  }
};

/// Half of each lane's index-K is added by a second writer without atomics.
class RacyIndexKey final : public RacyProgram {
 public:
  using RacyProgram::RacyProgram;

  void insert(const OpContext& context) override {
    if (concerns(context)) race<AddUnlocked>(context, index_key_slice(context), context.tokens);
    StepProgram::insert(context);
  }
};

}  // namespace

void add_unstable_eager_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<RacyValue>(
      {"unstable-eager", "value",
       "V of the last layer is added up in bf16 in the order in which terms arrive",
       "--write-path two-step"}));
  faults.push_back(planted<RacyOutput>(
      {"unstable-eager", "output",
       "the last layer's output is added up in bf16 in the order in which terms arrive",
       "--mode full --layers 3"}));
  faults.push_back(planted<RacyIndexKey>(
      {"unstable-eager", "index-key",
       "two writers share the last layer's index-K, and the update of one may be lost",
       "--kv-dtype fp8_e5m2 --write-path two-step --mode full"}));
}

}  // namespace graphsan::faults
