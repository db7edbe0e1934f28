#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/frozen-rng/fault_ops.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

/// What a program reads of its generator on the host.
enum class Read : std::uint8_t { kSeed, kOffset };

/// Rounds something stochastically. The generator moves on with each refill; its seed or offset is
/// read on the host when the kernel is launched. Repaired, the kernel reads it from a device buffer
/// that each refill fills.
class RoundingProgram : public StepProgram {
 public:
  RoundingProgram(std::shared_ptr<const InsertPath> path, Repaired repaired, Read read)
      : StepProgram{std::move(path)}, repaired_{repaired}, read_{read} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    memory_.emplace(shared.device);
    state_ = memory_->add<std::uint64_t>("generator state", 1);
    seed_ = shared.config.seed;
  }

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    draws_ = 0;
    upload(shared, stream);
  }

  [[nodiscard]] bool follows_reference() const override { return false; }

  void refill(const RefillContext& context) override {
    ++draws_;
    upload(context.shared, context.stream);
  }

  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    if (repaired_ == Repaired::kNo) return {};
    return {{"generator state", state_, sizeof(std::uint64_t), sizeof(std::uint64_t), 1,
             model::DType::kI64, true}};
  }

  void describe(device::AddressMap& map) const override {
    if (memory_) memory_->describe(map);
  }

 protected:
  /// `rounding` says what and how far; seed and offset are filled in here.
  void round(const OpContext& context, StochasticRound rounding) {
    const bool by_value = repaired_ == Repaired::kNo;
    rounding.seed = by_value && read_ == Read::kSeed ? seed_ + draws_ : seed_;
    rounding.offset = static_cast<std::uint64_t>(context.layer) << 48;
    if (by_value && read_ == Read::kOffset) rounding.offset += draws_ << 24;
    rounding.state = by_value ? nullptr : state_;
    launch(context.shared.device, context.stream, rounding);
  }

 private:
  void upload(const ProgramContext& shared, device::StreamRef stream) {
    submitted_ = seed_ + draws_;
    shared.device.copy(stream, state_, &submitted_, sizeof(submitted_));
    shared.device.synchronize(stream);
  }

  Repaired repaired_;
  Read read_;
  std::optional<NamedBuffers> memory_;
  std::uint64_t* state_ = nullptr;
  std::uint64_t seed_ = 0;
  std::uint64_t draws_ = 0;
  std::uint64_t submitted_ = 0;
};

/// K and V rounded to the mantissa of the fp8 cache.
class RoundedMain final : public RoundingProgram {
 public:
  RoundedMain(const Config& config, Repaired repaired)
      : RoundingProgram{two_step_path(config), repaired, Read::kSeed},
        dropped_bits_{config.kv_dtype == model::DType::kFp8E4M3 ? 4 : 5} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    const HeadsArg heads = made.heads;
    const std::int64_t width = std::int64_t{2} * heads.kv * kHeadDim;
    std::uint16_t* qkv = context.lanes.layers[static_cast<std::size_t>(context.layer)].qkv;
    round(context, {.count = context.tokens * width,
                    .values = qkv + static_cast<std::ptrdiff_t>(heads.q) * kHeadDim,
                    .stride = made.row_width,
                    .width = width,
                    .dropped_bits = dropped_bits_});
    insert_path().insert(made);
  }

 private:
  std::int64_t dropped_bits_;
};

/// Index-K rounded to four mantissa bits.
class RoundedIndexKey final : public RoundingProgram {
 public:
  RoundedIndexKey(const Config& config, Repaired repaired)
      : RoundingProgram{two_step_path(config), repaired, Read::kOffset} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.heads.index_k != 0) {
      std::uint16_t* qkv = context.lanes.layers[static_cast<std::size_t>(context.layer)].qkv;
      round(context, {.count = std::int64_t{context.tokens} * kHeadDim,
                      .values = qkv + (made.row_width - kHeadDim),
                      .stride = made.row_width,
                      .width = kHeadDim,
                      .dropped_bits = 3});
    }
    insert_path().insert(made);
  }
};

/// The last layer's output rounded to four mantissa bits.
class RoundedOutput final : public RoundingProgram {
 public:
  RoundedOutput(const Config& config, Repaired repaired)
      : RoundingProgram{make_insert_path(config), repaired, Read::kSeed} {}

  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    const Config& config = context.shared.config;
    const bool last = context.layer == config.layers - 1;
    if (!last || context.metadata == nullptr || context.pool == nullptr) return;
    const std::int64_t width = std::int64_t{heads_for(config.tp, true).q} * kHeadDim;
    round(context, {.count = context.tokens * width,
                    .values = context.lanes.layers[static_cast<std::size_t>(context.layer)].out,
                    .stride = width,
                    .width = width,
                    .dropped_bits = 3});
  }
};

}  // namespace

void add_frozen_rng_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<RoundedMain>(
      {.id = "frozen-rng",
       .variant = "seed",
       .description = "K and V are rounded stochastically with a seed passed by value",
       .options = "--kv-dtype fp8_e5m2 --write-path two-step"}));
  faults.push_back(planted<RoundedIndexKey>(
      {.id = "frozen-rng",
       .variant = "offset",
       .description = "index-K is rounded stochastically with a generator offset passed by value",
       .options = "--kv-dtype fp8_e4m3 --write-path two-step --mode full --tokens 6"}));
  faults.push_back(planted<RoundedOutput>(
      {.id = "frozen-rng",
       .variant = "output",
       .description = "the last output is rounded stochastically with a seed passed by value",
       .options = "--kv-dtype bf16 --mode full --batch prefill"}));
}

}  // namespace graphsan::faults
