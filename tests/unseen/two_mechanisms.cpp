#include "tests/unseen/two_mechanisms.hpp"

#include <array>

#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test {

using namespace step::minimax_m3;
using second::TwoStepProgram;

namespace {

/// Trial rows of a capture in the first layer, whose attention adds up whole tiles; and positions
/// for the last layer's rope that a replay does not refresh.
class TrialRowsAndStalePositions final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    slots_ = add_lanes<std::int64_t>(shared, "trial slots");
    planned_ = add_lanes<std::int64_t>(shared, "planned positions");
  }
  void before_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    second::try_write(shared, stream, slots_, 0);
  }
  void refill(const RefillContext& context) override {
    lanes_ = context.metadata.length;
    if (faults::replays(context)) return;
    context.shared.device.copy(context.stream, planned_, context.lanes.positions,
                               static_cast<std::size_t>(lanes_) * sizeof(*planned_));
  }
  void norm_rope(const OpContext& context) override {
    if (!is_last(context)) return TwoStepProgram::norm_rope(context);
    NormRopeArgs args = norm_rope_args(context, false);
    args.positions = planned_;
    launch_mix(context.shared.device, context.stream, mix_args(context));
    launch_norm_rope(context.shared.device, context.stream, args);
  }
  void attention(const OpContext& context) override {
    TwoStepProgram::attention(context);
    if (context.layer == 0) second::add_tile_tail(context);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"planned positions", planned_, 8, 8, lanes_, model::DType::kI64, false, 0}};
  }

 private:
  std::int64_t* slots_ = nullptr;
  std::int64_t* planned_ = nullptr;
  int lanes_ = 0;
};

/// wrapped[lane] = slots[lane], counted from the end where it is negative.
struct WrapSlots {
  static constexpr const char* kName = "wrap_slots";
  std::int64_t* wrapped;
  const std::int64_t* slots;
  std::int64_t lanes;
  std::int64_t rows;  ///< of the cache

  static second::Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(WrapSlots, wrapped), GRAPHSAN_ARGUMENT_FIELD(WrapSlots, slots),
        GRAPHSAN_ARGUMENT_FIELD(WrapSlots, lanes), GRAPHSAN_ARGUMENT_FIELD(WrapSlots, rows)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      wrapped[lane] = slots[lane] < 0 ? slots[lane] + rows : slots[lane];
    }
  }
};

/// K and V of the first layer wrap negative slots round; index-K's slots come in one of two buffers
/// in turn.
class WrappedPadsAndMovedSlots final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    wrapped_ = add_lanes<std::int64_t>(shared, "wrapped slots");
    for (std::size_t i = 0; i < ring_.size(); ++i) {
      ring_[i] = add_lanes<std::int64_t>(shared, "index slots " + std::to_string(i));
    }
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    turn_ = 0;
    for (std::int64_t* slots : ring_) {
      shared.device.fill(stream, slots, 0xFF,
                         static_cast<std::size_t>(shared.persistent.capacity) * sizeof(*slots));
    }
  }
  void refill(const RefillContext& context) override {
    turn_ = (turn_ + 1) % ring_.size();
    lanes_ = context.metadata.length;
    context.shared.device.copy(context.stream, ring_[turn_], context.lanes.slots,
                               static_cast<std::size_t>(lanes_) * sizeof(std::int64_t));
  }
  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    if (context.layer == 0) {
      launch_on(context, WrapSlots{wrapped_, made.slots, made.tokens, made.cache.slots});
      made.slots = wrapped_;
    }
    write_main(made, made.slots, made.tokens);
    write_index(made, ring_[turn_], made.tokens, NegativeSlot::kSkip);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"index slots", ring_[turn_], 8, 8, lanes_, model::DType::kI64, false, -1}};
  }

 private:
  std::int64_t* wrapped_ = nullptr;
  std::array<std::int64_t*, 2> ring_{};
  std::size_t turn_ = 0;
  int lanes_ = 0;
};

/// rows[lane, i] += amount × i / 128.
struct AddSlope {
  static constexpr const char* kName = "add_slope";
  second::Rows rows;
  float amount;

  static second::Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(AddSlope), GRAPHSAN_ARGUMENT_FIELD(AddSlope, amount)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width; ++i) {
        rows.set(lane, i, rows.get(lane, i) + amount * static_cast<float>(i) / 128.0F);
      }
    }
  }
};

/// The first layer writes nothing without metadata; the last adds to V an amount that the host
/// works out from the longest context.
class ElidedFirstAndFrozenLast : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void refill(const RefillContext& context) override {
    amount_ = static_cast<float>(context.metadata.max_context % 7 + 1) / 4.0F;
  }
  void reset(const ProgramContext&, device::StreamRef) override { amount_ = 0.0F; }
  void insert(const OpContext& context) override {
    if (is_elided(context) && context.metadata == nullptr) return;
    if (!is_elided(context) && context.pool != nullptr) {
      launch_on(context,
                AddSlope{second::rows_of(faults::value_slice(context), context.tokens), amount_});
    }
    TwoStepProgram::insert(context);
  }

 protected:
  [[nodiscard]] virtual bool is_elided(const OpContext& context) const {
    return context.layer == 0;
  }

 private:
  float amount_ = 0.0F;
};

/// The same two with their layers swapped.
class FrozenFirstAndElidedLast final : public ElidedFirstAndFrozenLast {
 public:
  using ElidedFirstAndFrozenLast::ElidedFirstAndFrozenLast;

 private:
  [[nodiscard]] bool is_elided(const OpContext& context) const override { return is_last(context); }
};

/// The first layer's attention reads V without its scale until a batch has come; the last layer's
/// slots are claimed, and the claims are cleared by the host alone.
class UncalibratedFirstAndClaimedLast final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }
  void bind(const ProgramContext& shared, device::StreamRef) override {
    scale_ = add<float>(shared, "v scale", 1);
    claims_ = add_lanes<std::int32_t>(shared, "claims");
    granted_ = add_lanes<std::int64_t>(shared, "granted slots");
    bytes_ = static_cast<std::size_t>(shared.persistent.capacity) * sizeof(*claims_);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    TwoStepProgram::reset(shared, stream);
    launch_fill_float(shared.device, stream, {scale_, 1, 2.0F});
    calibrated_ = false;
  }
  void refill(const RefillContext&) override { calibrated_ = true; }
  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    if (context.layer == 0) faults::write_main_from(made, made.slots, {.v_scale = scale_});
    if (!is_last(context)) return;
    if (!faults::is_captured(context)) {
      context.shared.device.fill(context.stream, claims_, 0, bytes_);
    }
    launch_on(context, second::ClaimSlots{granted_, claims_, made.slots, made.tokens});
    made.slots = granted_;
    insert_path().insert(made);
  }
  void attention(const OpContext& context) override {
    if (context.layer != 0 || context.pool == nullptr || context.metadata == nullptr) {
      return TwoStepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    AttentionArgs args =
        attention_args(context.lanes, shared.config, shared.plan, *context.pool, context.layer,
                       context.tokens, context.lanes.layers.front().out);
    if (calibrated_) args.v_scale = scale_;
    launch_attention(shared.device, context.stream, args);
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"claims", claims_, static_cast<std::int64_t>(bytes_)}};
  }

 private:
  float* scale_ = nullptr;
  std::int32_t* claims_ = nullptr;
  std::int64_t* granted_ = nullptr;
  std::size_t bytes_ = 0;
  bool calibrated_ = false;
};

/// In the last layer index keys are centred over all lanes, pads included, and K and V are not
/// written without metadata.
class CentredAndElided final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void insert(const OpContext& context) override {
    if (!is_last(context) || context.pool == nullptr) return TwoStepProgram::insert(context);
    const InsertContext made = insert_context(context);
    launch_on(context,
              second::CentreLanes{second::rows_of(faults::index_key_slice(context), context.tokens),
                                  context.lanes.slots});
    if (context.metadata != nullptr) write_main(made, made.slots, made.tokens);
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }
};

template <typename Program>
TwoMechanisms two(std::set<std::string> mechanisms, std::string options,
                  std::string suspected = {}) {
  return {std::move(mechanisms), std::move(options),
          [](const Config& config) { return std::make_unique<Program>(config); },
          std::move(suspected)};
}

}  // namespace

const std::vector<TwoMechanisms>& steps_with_two_mechanisms() {
  static const std::vector<TwoMechanisms> steps = {
      two<TrialRowsAndStalePositions>({"capture-side-effect", "stale-contents"},
                                      "--kv-dtype bf16 --write-path two-step --mode full"),
      two<WrappedPadsAndMovedSlots>({"padding-write", "moved-buffer"},
                                    "--kv-dtype fp8_e4m3 --write-path two-step"),
      two<FrozenFirstAndElidedLast>({"elided-write", "frozen-scalar"},
                                    "--kv-dtype bf16 --write-path two-step"),
      // Whatever the frozen word spoils is wrong by the first layer's lost rows as well.
      two<ElidedFirstAndFrozenLast>({"elided-write", "frozen-scalar"},
                                    "--kv-dtype bf16 --write-path two-step", "frozen-scalar"),
      two<UncalibratedFirstAndClaimedLast>({"wrong-scale", "missing-reset"},
                                           "--kv-dtype fp8_e4m3 --write-path two-step --mode full"),
      two<CentredAndElided>({"padding-leak", "elided-write"},
                            "--kv-dtype fp8_e5m2 --write-path two-step"),
  };
  return steps;
}

}  // namespace graphsan::test
