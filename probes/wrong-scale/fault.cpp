#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using step::OpaqueView;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::launch_fill_float;
using step::minimax_m3::launch_reshape_and_cache;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::StepProgram;

namespace {

/// A scale lies on the device at a value from before calibration. Host code of each step calibrates
/// it, to 1 for the data of these steps; the fault: not where a graph is replayed.
class CalibratedScale : public StepProgram {
 public:
  CalibratedScale(const Config& config, Repaired repaired, const char* name, float uncalibrated)
      : StepProgram{make_insert_path(config)},
        layer_{config.layers - 1},
        repaired_{repaired},
        name_{name},
        uncalibrated_{uncalibrated} {}

  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    memory_.emplace(shared.device);
    scale_ = memory_->add<float>(name_, 1);
    reset(shared, stream);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    launch_fill_float(shared.device, stream, {scale_, 1, uncalibrated_});
  }
  void refill(const RefillContext& context) override {
    if (repaired_ == Repaired::kNo && replays(context)) return;
    launch_fill_float(context.shared.device, context.stream, {scale_, 1, 1.0F});
  }
  [[nodiscard]] std::vector<OpaqueView> opaque() const override {
    return {{name_, scale_, sizeof(float)}};
  }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

 protected:
  [[nodiscard]] const float* scale() const { return scale_; }
  /// The last layer, where one only is concerned.
  int layer_;

 private:
  Repaired repaired_;
  const char* name_;
  float uncalibrated_;
  std::optional<NamedBuffers> memory_;
  float* scale_ = nullptr;
};

/// K of every layer is stored with the scale.
class UncalibratedKey final : public CalibratedScale {
 public:
  UncalibratedKey(const Config& config, Repaired repaired)
      : CalibratedScale{config, repaired, "key scale", 2.0F} {}

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    const HeadSlice key = key_slice(context);
    const HeadSlice value = value_slice(context);
    launch_reshape_and_cache(write.device, write.stream,
                             {.key = key.values,
                              .value = value.values,
                              .key_stride = key.stride,
                              .value_stride = value.stride,
                              .slots = write.slots,
                              .k_scale = scale(),
                              .v_scale = nullptr,
                              .cache = write.cache,
                              .tokens = write.tokens,
                              .scale_count = 1});
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }
};

/// V of the last layer is stored with the scale by the fused op.
class UncalibratedValue final : public CalibratedScale {
 public:
  UncalibratedValue(const Config& config, Repaired repaired)
      : CalibratedScale{config, repaired, "value scale", 3.0F} {}

  void norm_rope(const OpContext& context) override {
    device::Device& device = context.shared.device;
    launch_mix(device, context.stream, mix_args(context));
    auto args = norm_rope_args(context, writes_in_norm_rope());
    if (context.layer == layer_) args.v_scale = scale();
    launch_norm_rope(device, context.stream, args);
  }
};

/// Attention of the last layer reads V with the scale.
class UncalibratedRead final : public CalibratedScale {
 public:
  UncalibratedRead(const Config& config, Repaired repaired)
      : CalibratedScale{config, repaired, "attention value scale", 0.5F} {}

  void attention(const OpContext& context) override {
    if (context.layer != layer_ || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    auto args = attention_args(context.lanes, shared.config, shared.plan, *context.pool,
                               context.layer, context.tokens, output_slice(context).values);
    args.v_scale = scale();
    launch_attention(shared.device, context.stream, args);
  }
};

/// Without live metadata the write takes the default of fp8 caches, e4m3, whatever was asked for.
class DefaultDtype final : public StepProgram {
 public:
  DefaultDtype(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired} {}

  void insert(const OpContext& context) override {
    InsertContext write = insert_context(context);
    const bool dummy = context.metadata == nullptr || context.metadata->step < 0;
    const bool fp8 = context.shared.config.kv_dtype != model::DType::kBf16;
    if (repaired_ == Repaired::kNo && dummy && fp8) write.cache.dtype = model::DType::kFp8E4M3;
    insert_path().insert(write);
  }

 private:
  Repaired repaired_;
};

}  // namespace

void add_wrong_scale_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<UncalibratedKey>(
      {"wrong-scale", "key", "K is stored with a scale that only eager steps calibrate",
       "--kv-dtype fp8_e5m2 --write-path two-step"}));
  faults.push_back(planted<UncalibratedValue>(
      {"wrong-scale", "value",
       "the fused op stores V of the last layer with a scale that no replay calibrates",
       "--kv-dtype fp8_e5m2 --write-path fused --mode full --layers 3"}));
  faults.push_back(planted<DefaultDtype>(
      {"wrong-scale", "dtype", "fp8_e5m2 is asked for, and the captured write stores e4m3",
       "--kv-dtype fp8_e5m2 --write-path two-step"}));
  faults.push_back(planted<UncalibratedRead>(
      {"wrong-scale", "read",
       "attention of the last layer reads V with a scale that no replay calibrates",
       "--kv-dtype fp8_e4m3 --write-path two-step --mode full"}));
}

}  // namespace graphsan::faults
