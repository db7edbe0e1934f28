#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "probes/padding-leak/fault_ops.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using device::Temporary;
using step::minimax_m3::Config;
using step::minimax_m3::heads_for;
using step::minimax_m3::HeadsArg;
using step::minimax_m3::InsertContext;
using step::minimax_m3::is_sparse_layer;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::row_width;
using step::minimax_m3::StepProgram;

namespace {

/// Both bytes of a bf16 value of about 50000.
constexpr std::uint8_t kFiftyThousand = 0x47;

/// Gives some heads of every persistent lane the values of an earlier batch with outliers: what pad
/// lanes hold from then on. `byte`: both bytes of each bf16 value.
void leave_outliers(const ProgramContext& shared, device::StreamRef stream, int layer,
                    std::int64_t first_head, std::int64_t heads, std::uint8_t byte) {
  const Config& config = shared.config;
  const std::int64_t width = row_width(heads_for(config.tp, is_sparse_layer(layer, config.layers)));
  std::uint16_t* base = shared.persistent.layers[static_cast<std::size_t>(layer)].base;
  for (std::int64_t lane = 0; lane < shared.persistent.capacity; ++lane) {
    shared.device.fill(stream, base + lane * width + first_head * kHeadDim, byte,
                       static_cast<std::size_t>(heads * kHeadDim) * sizeof(std::uint16_t));
  }
}

/// V of every layer is divided by one scale, worked out over all lanes that the kernel is given.
class SharedAmax final : public StepProgram {
 public:
  SharedAmax(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    for (int layer = 0; layer < shared.config.layers; ++layer) {
      const HeadsArg heads =
          heads_for(shared.config.tp, is_sparse_layer(layer, shared.config.layers));
      leave_outliers(shared, stream, layer, heads.q + heads.kv, heads.kv, kFiftyThousand);
    }
  }
  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    const Temporary scale{write.allocator, sizeof(float)};
    const HeadSlice value = value_slice(context);
    launch(write.device, write.stream,
           ScaleOverLanes{.count = 1,
                          .scale = scale.as<float>(),
                          .values = value.values,
                          .stride = value.stride,
                          .width = value.width,
                          .slots = repaired_ == Repaired::kYes ? write.slots : nullptr,
                          .lanes = write.tokens,
                          .largest = kLargestE4M3});
    write_main_from(write, write.slots, {.v_scale = scale.as<float>()});
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  Repaired repaired_;
};

/// Index-K of the last layer is picked out of the batch by a product with a one-hot matrix, and pad
/// lanes hold NaN: nought times NaN is NaN.
class NoughtTimesNan final : public StepProgram {
 public:
  NoughtTimesNan(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    constexpr std::uint8_t kNan = 0xFF;
    const HeadsArg heads = heads_for(shared.config.tp, true);
    leave_outliers(shared, stream, layer_, heads.q + 2 * heads.kv + heads.index_q, heads.index_k,
                   kNan);
  }
  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.layer != layer_) return StepProgram::insert(context);
    write_main(write, write.slots, write.tokens);
    const HeadSlice key = index_key_slice(context);
    const std::int64_t count = write.tokens * key.width;
    const Temporary packed{write.allocator,
                           static_cast<std::size_t>(count) * sizeof(std::uint16_t)};
    launch(write.device, write.stream,
           PickLanesByProduct{.count = count,
                              .packed = packed.as<std::uint16_t>(),
                              .source = key.values,
                              .stride = key.stride,
                              .width = key.width,
                              .slots = repaired_ == Repaired::kYes ? write.slots : nullptr,
                              .lanes = write.tokens});
    write_packed_index(write, packed.as<std::uint16_t>(), write.slots);
  }

 private:
  Repaired repaired_;
  int layer_;
};

/// The index queries of the last layer share one exponent over the batch, and pad lanes hold large
/// finite values: the real lanes' keep no digit.
class SharedExponent final : public StepProgram {
 public:
  SharedExponent(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    const HeadsArg heads = heads_for(shared.config.tp, true);
    leave_outliers(shared, stream, layer_, heads.q + 2 * heads.kv, heads.index_q, kFiftyThousand);
  }
  void norm_rope(const OpContext& context) override {
    if (context.layer != layer_) return StepProgram::norm_rope(context);
    device::Device& device = context.shared.device;
    launch_mix(device, context.stream, mix_args(context));
    const HeadsArg heads = heads_of(context);
    const std::int64_t width = static_cast<std::int64_t>(heads.index_q) * kHeadDim;
    std::uint16_t* queries = context.lanes.layers[static_cast<std::size_t>(layer_)].qkv +
                             static_cast<std::int64_t>(heads.q + 2 * heads.kv) * kHeadDim;
    const Temporary unit{context.shared.allocator, sizeof(float)};
    launch(device, context.stream,
           ScaleOverLanes{.count = 1,
                          .scale = unit.as<float>(),
                          .values = queries,
                          .stride = row_width(heads),
                          .width = width,
                          .slots = repaired_ == Repaired::kYes ? context.lanes.slots : nullptr,
                          .lanes = context.tokens,
                          .largest = kFits});
    launch(device, context.stream,
           RoundToUnit{.count = context.tokens * width,
                       .values = queries,
                       .stride = row_width(heads),
                       .width = width,
                       .unit = unit.as<float>()});
    launch_norm_rope(device, context.stream, norm_rope_args(context, writes_in_norm_rope()));
  }

 private:
  static constexpr double kFits = 64.0;  ///< beyond a normal value by far

  Repaired repaired_;
  int layer_;
};

}  // namespace

void add_padding_leak_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<SharedAmax>(
      "padding-leak", "shared-amax",
      "V is divided by a dynamic scale over all lanes, and pad lanes hold large values",
      "--kv-dtype fp8_e4m3 --write-path two-step"));
  faults.push_back(fault_and_twin<NoughtTimesNan>(
      "padding-leak", "zero-times-nan",
      "index-K of the last layer is picked by a one-hot product, and pad lanes hold NaN",
      "--write-path two-step --mode full --layers 3"));
  faults.push_back(fault_and_twin<SharedExponent>(
      "padding-leak", "shared-exponent",
      "the last layer's index queries share an exponent, and pad lanes hold large finite values",
      "--mode full"));
}

}  // namespace graphsan::faults
