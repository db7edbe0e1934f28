#include <algorithm>
#include <cmath>
#include <numeric>

#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test::second {

using namespace step::minimax_m3;

namespace {

/// Index keys are centred over the batch before they are written.
class CentredIndexKeys final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void insert(const OpContext& context) override {
    const faults::HeadSlice slice = faults::index_key_slice(context);
    if (context.pool != nullptr && slice.width != 0) {
      launch_on(context, CentreLanes{rows_of(slice, context.tokens), context.lanes.slots});
    }
    TwoStepProgram::insert(context);
  }
};

/// An expert takes the `capacity` lanes with the most energy; the others' output is dropped.
struct DropBeyondCapacity {
  static constexpr const char* kName = "drop_beyond_capacity";
  Rows rows;  ///< output
  const std::uint16_t* router;
  std::int64_t router_stride;
  std::int64_t capacity;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(DropBeyondCapacity),
        GRAPHSAN_ARGUMENT_FIELD(DropBeyondCapacity, router),
        GRAPHSAN_ARGUMENT_FIELD(DropBeyondCapacity, router_stride),
        GRAPHSAN_ARGUMENT_FIELD(DropBeyondCapacity, capacity)};
    return kFields;
  }
  [[nodiscard]] float energy(std::int64_t lane) const {
    float sum = 0.0F;
    for (std::int64_t i = 0; i < kHeadDim; ++i) {
      const float value = bf16_to_float(router[lane * router_stride + i]);
      sum += value * value;
    }
    return sum;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      std::int64_t before = 0;
      for (std::int64_t other = 0; other < rows.lanes; ++other) {
        before += energy(other) > energy(lane) ? 1 : 0;
      }
      if (before < capacity) continue;
      for (std::int64_t i = 0; i < rows.width; ++i) rows.set(lane, i, 0.0F);
    }
  }
};

/// The first layer's output goes through an expert with room for the real lanes, and pad lanes
/// compete for it.
class ExpertCapacity final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void attention(const OpContext& context) override {
    TwoStepProgram::attention(context);
    if (context.layer != 0 || context.metadata == nullptr || context.pool == nullptr) return;
    const faults::HeadSlice router = faults::value_slice(context);
    launch_on(context,
              DropBeyondCapacity{rows_of(faults::output_slice(context), context.tokens),
                                 router.values, router.stride, context.shared.config.tokens});
  }
};

/// Adds a slope to each row that `order` lists; entries below zero are passed over.
struct AddSlopeInOrder {
  static constexpr const char* kName = "add_slope_in_order";
  Rows rows;
  const std::int32_t* order;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(AddSlopeInOrder), GRAPHSAN_ARGUMENT_FIELD(AddSlopeInOrder, order)};
    return kFields;
  }
  void run() const {
    for (std::int64_t at = 0; at < rows.lanes; ++at) {
      const std::int64_t lane = order[at];
      if (lane < 0 || lane >= rows.lanes) continue;
      for (std::int64_t i = 0; i < rows.width; ++i) {
        rows.set(lane, i, rows.get(lane, i) + static_cast<float>(i) / 128.0F);
      }
    }
  }
};

/// Lanes are visited longest first; the host fills in as many entries as there are real lanes.
class LaneOrder final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    order_ = add_lanes<std::int32_t>(shared, "lane order");
  }
  void refill(const RefillContext& context) override {
    lanes_ = context.metadata.length;
    std::vector<std::int32_t> order(static_cast<std::size_t>(context.metadata.tokens));
    std::iota(order.begin(), order.end(), 0);
    const auto position = [&](std::int32_t lane) {
      return context.metadata.lanes[static_cast<std::size_t>(lane)].position;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return position(a) > position(b); });
    context.shared.device.copy(context.stream, order_, order.data(),
                               order.size() * sizeof(order[0]));
  }
  void insert(const OpContext& context) override {
    if (context.pool != nullptr && is_last(context)) {
      launch_on(context,
                AddSlopeInOrder{rows_of(faults::value_slice(context), context.tokens), order_});
    }
    TwoStepProgram::insert(context);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"lane order", order_, 4, 4, lanes_, model::DType::kI32, false, -1}};
  }

 private:
  std::int32_t* order_ = nullptr;
  int lanes_ = 0;
};

/// positions[t] = row_positions[r], where r is the row of a ragged batch that token t lies in:
/// bounds[r] <= t < bounds[r + 1], found by bisection.
struct LookUpPositions {
  static constexpr const char* kName = "look_up_positions";
  std::int64_t* positions;
  const std::int64_t* bounds;         ///< [tokens + 1], ascending
  const std::int64_t* row_positions;  ///< [tokens + 1]
  std::int64_t tokens;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(LookUpPositions, positions),
        GRAPHSAN_ARGUMENT_FIELD(LookUpPositions, bounds),
        GRAPHSAN_ARGUMENT_FIELD(LookUpPositions, row_positions),
        GRAPHSAN_ARGUMENT_FIELD(LookUpPositions, tokens)};
    return kFields;
  }
  void run() const {
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t row = std::upper_bound(bounds, bounds + tokens + 1, t) - bounds - 1;
      positions[t] = row_positions[std::clamp<std::int64_t>(row, 0, tokens)];
    }
  }
};

/// The rope's positions are found through the batch's row bounds, whose tail nobody fills in.
class RaggedBounds final : public TwoStepProgram {
 public:
  explicit RaggedBounds(const Config& config) : TwoStepProgram{config}, tokens_{config.tokens} {}
  void bind(const ProgramContext& shared, device::StreamRef) override {
    const auto rows = static_cast<std::size_t>(shared.persistent.capacity) + 1;
    bounds_ = add<std::int64_t>(shared, "row bounds", rows);
    row_positions_ = add<std::int64_t>(shared, "row positions", rows);
    positions_ = add<std::int64_t>(shared, "token positions", rows);
  }
  void refill(const RefillContext& context) override {
    lanes_ = context.metadata.length;
    const auto tokens = static_cast<std::size_t>(context.metadata.tokens);
    std::vector<std::int64_t> bounds(tokens + 1);
    std::iota(bounds.begin(), bounds.end(), 0);
    std::vector<std::int64_t> positions;
    for (const model::Lane& lane : context.metadata.lanes.first(tokens)) {
      positions.push_back(lane.position);
    }
    device::Device& device = context.shared.device;
    device.copy(context.stream, bounds_, bounds.data(), bounds.size() * sizeof(bounds[0]));
    device.copy(context.stream, row_positions_, positions.data(), tokens * sizeof(positions[0]));
  }
  void norm_rope(const OpContext& context) override {
    launch_on(context, LookUpPositions{positions_, bounds_, row_positions_, context.tokens});
    NormRopeArgs args = norm_rope_args(context, false);
    args.positions = positions_;
    launch_mix(context.shared.device, context.stream, mix_args(context));
    launch_norm_rope(context.shared.device, context.stream, args);
  }
  /// Where each lane's row ends; a pad lane's is where the last real one's is.
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"row bounds", bounds_ + 1, 8, 8, lanes_, model::DType::kI64, false, tokens_}};
  }

 private:
  int tokens_;
  std::int64_t* bounds_ = nullptr;
  std::int64_t* row_positions_ = nullptr;
  std::int64_t* positions_ = nullptr;
  int lanes_ = 0;
};

}  // namespace

void add_padding_faults(std::vector<UnseenFault>& faults) {
  faults.push_back(unseen<CentredIndexKeys>("padding-leak", "centred-index-keys",
                                            "--kv-dtype fp8_e5m2 --write-path two-step"));
  faults.push_back(unseen<ExpertCapacity>("padding-leak", "expert-capacity",
                                          "--kv-dtype bf16 --write-path two-step --mode full"));
  faults.push_back(
      unseen<LaneOrder>("padding-metadata", "lane-order",
                        "--kv-dtype fp8_e4m3 --write-path two-step --tokens 5 --bucket 8"));
  faults.push_back(unseen<RaggedBounds>("padding-metadata", "ragged-bounds",
                                        "--kv-dtype bf16 --write-path two-step --layers 3"));
}

}  // namespace graphsan::test::second
