#include <algorithm>
#include <array>
#include <cmath>

#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test::second {

using namespace step::minimax_m3;

namespace {

/// A fresh process finds zeros in blocks of its allocator.
void zero_fresh_block(const ProgramContext& shared, device::StreamRef stream, std::size_t bytes) {
  const device::Temporary block{shared.allocator, bytes};
  shared.device.fill(stream, block.data(), 0, bytes);
}

/// Index keys are summed up in fp32 totals that were never zeroed. A capture packs K and V first,
/// in a block that the totals then get.
class FreshTotals final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    packed_ = add<std::uint16_t>(shared, "packed index keys",
                                 static_cast<std::size_t>(shared.persistent.capacity) * kHeadDim);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    zero_fresh_block(shared, stream, totals_bytes(shared.exact.capacity));
    zero_fresh_block(shared, stream, totals_bytes(shared.persistent.capacity));
  }
  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    write_main_packed(context, made);
    const faults::HeadSlice keys = faults::index_key_slice(context);
    if (keys.width == 0) return;
    const device::Temporary totals{made.allocator, totals_bytes(made.tokens)};
    launch_on(context,
              Accumulate{totals.as<float>(), keys.values, keys.stride, keys.width, made.tokens});
    launch_on(context, TakeTotals{packed_, totals.as<float>(), made.tokens * keys.width});
    faults::write_packed_index(made, packed_, made.slots);
  }

 private:
  [[nodiscard]] static std::size_t totals_bytes(std::int32_t lanes) {
    return static_cast<std::size_t>(lanes) * kHeadDim * sizeof(float);
  }
  static void write_main_packed(const OpContext& context, const InsertContext& made) {
    if (!faults::is_captured(context)) {
      return faults::write_main_from(made, made.slots, {});
    }
    const std::size_t width = 2 * static_cast<std::size_t>(made.heads.kv) * kHeadDim;
    const device::Temporary packed{
        made.allocator, static_cast<std::size_t>(made.tokens) * width * sizeof(std::uint16_t)};
    faults::pack_heads(made, made.heads.q, 2 * made.heads.kv, packed.as<std::uint16_t>());
    faults::write_main_from(
        made, made.slots,
        {.key = packed.as<std::uint16_t>(), .key_stride = static_cast<std::int64_t>(width)});
  }

  std::uint16_t* packed_ = nullptr;
};

/// Largest magnitude of each channel over the lanes with a slot.
struct ChannelRange {
  static constexpr const char* kName = "channel_range";
  float* range;  ///< [width]
  const std::uint16_t* values;
  const std::int64_t* slots;
  std::int64_t stride;
  std::int64_t width;
  std::int64_t lanes;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(ChannelRange, range), GRAPHSAN_ARGUMENT_FIELD(ChannelRange, values),
        GRAPHSAN_ARGUMENT_FIELD(ChannelRange, slots), GRAPHSAN_ARGUMENT_FIELD(ChannelRange, stride),
        GRAPHSAN_ARGUMENT_FIELD(ChannelRange, width), GRAPHSAN_ARGUMENT_FIELD(ChannelRange, lanes)};
    return kFields;
  }
  void run() const {
    for (std::int64_t i = 0; i < width; ++i) {
      range[i] = 0.0F;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        if (slots[lane] < 0) continue;
        range[i] = std::max(range[i], std::abs(bf16_to_float(values[lane * stride + i])));
      }
    }
  }
};

/// bias[i] = slope × i for the first `count` channels.
struct SetBias {
  static constexpr const char* kName = "set_bias";
  float* bias;
  std::int64_t count;
  float slope;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(SetBias, bias), GRAPHSAN_ARGUMENT_FIELD(SetBias, count),
        GRAPHSAN_ARGUMENT_FIELD(SetBias, slope)};
    return kFields;
  }
  void run() const {
    for (std::int64_t i = 0; i < count; ++i) bias[i] = slope * static_cast<float>(i);
  }
};

/// rows[lane, i] += bias[i].
struct AddBias {
  static constexpr const char* kName = "add_bias";
  Rows rows;
  const float* bias;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {GRAPHSAN_ROWS_FIELDS(AddBias),
                                                            GRAPHSAN_ARGUMENT_FIELD(AddBias, bias)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width; ++i) {
        rows.set(lane, i, rows.get(lane, i) + bias[i]);
      }
    }
  }
};

/// Half of a bias on V is set, all of it is added. A capture checks V's range first, in a block
/// that the bias then gets.
class HalfBias final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    zero_fresh_block(shared, stream, kBytes);
  }
  void insert(const OpContext& context) override {
    if (context.layer == 0 && context.pool != nullptr) add_bias(context);
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    faults::write_main_from(made, made.slots, {});
    if (made.heads.index_k != 0) write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }

 private:
  static constexpr std::size_t kBytes = kHeadDim * sizeof(float);

  static void add_bias(const OpContext& context) {
    const faults::HeadSlice values = faults::value_slice(context);
    device::CachingAllocator& allocator = context.shared.allocator;
    if (faults::is_captured(context)) {
      const device::Temporary range{allocator, kBytes};
      launch_on(context, ChannelRange{range.as<float>(), values.values, context.lanes.slots,
                                      values.stride, values.width, context.tokens});
    }
    const device::Temporary bias{allocator, kBytes};
    launch_on(context, SetBias{bias.as<float>(), values.width / 2, 1.0F / 128.0F});
    launch_on(context, AddBias{rows_of(values, context.tokens), bias.as<float>()});
  }
};

/// V is stored divided by a scale. Attention multiplies by it once it is calibrated, which the host
/// notes with the first batch: after the capture.
class LateCalibration final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }
  void bind(const ProgramContext& shared, device::StreamRef) override {
    scale_ = add<float>(shared, "v scale", 1);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    launch_fill_float(shared.device, stream, {scale_, 1, 2.0F});
    calibrated_ = false;
  }
  void refill(const RefillContext&) override { calibrated_ = true; }
  void insert(const OpContext& context) override {
    if (!is_last(context)) return TwoStepProgram::insert(context);
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    faults::write_main_from(made, made.slots, {.v_scale = scale_});
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }
  void attention(const OpContext& context) override {
    if (!is_last(context) || context.pool == nullptr || context.metadata == nullptr) {
      return TwoStepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    AttentionArgs args = attention_args(
        context.lanes, shared.config, shared.plan, *context.pool, context.layer, context.tokens,
        context.lanes.layers[static_cast<std::size_t>(context.layer)].out);
    if (calibrated_) args.v_scale = scale_;
    launch_attention(shared.device, context.stream, args);
  }

 private:
  float* scale_ = nullptr;
  bool calibrated_ = false;
};

/// The write op's dtype comes with the metadata; without, the first layer's is e5m2.
class DefaultDtype final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    if (context.layer == 0 && context.metadata == nullptr) {
      made.cache.dtype = model::DType::kFp8E5M2;
    }
    insert_path().insert(made);
  }
};

}  // namespace

void add_value_faults(std::vector<UnseenFault>& faults) {
  faults.push_back(unseen<FreshTotals>("uninitialized-read", "fresh-totals",
                                       "--kv-dtype bf16 --write-path two-step"));
  faults.push_back(unseen<HalfBias>("uninitialized-read", "half-bias",
                                    "--kv-dtype fp8_e4m3 --write-path two-step --mode full"));
  faults.push_back(unseen<LateCalibration>(
      "wrong-scale", "late-calibration", "--kv-dtype fp8_e4m3 --write-path two-step --mode full"));
  faults.push_back(unseen<DefaultDtype>("wrong-scale", "default-dtype",
                                        "--kv-dtype fp8_e4m3 --write-path two-step --tokens 4"));
}

}  // namespace graphsan::test::second
