#include "tests/unseen/first.hpp"
#include "tests/unseen/residual_ops.hpp"
#include "tests/unseen/unseen_program.hpp"

namespace graphsan::test {

using device::Temporary;
using step::minimax_m3::bf16_to_float;
using step::minimax_m3::float_to_bf16;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;

namespace {

// pool-alias --------------------------------------------------------------------------------------

/// State that eager work keeps in a buffer of its own, and captured work in a block of the graph
/// pool that is given back when the capture that made it has ended.
class PoolBornState : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    shared.device.fill(stream, eager_, 0, bytes_);
    if (pooled_ != nullptr) shared.device.fill(stream, pooled_, 0, bytes_);
  }
  void after_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    shared.device.fill(stream, pooled_, 0, bytes_);
    shared.device.synchronize(stream);
    made_by_earlier_ = born_.has_value();
    born_.reset();
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"kept V", pooled_ != nullptr ? pooled_ : eager_, static_cast<std::int64_t>(bytes_)}};
  }

 protected:
  /// The first capture makes the pool's block, the second uses it too.
  [[nodiscard]] float* state(const OpContext& context) {
    if (!faults::is_captured(context)) return eager_;
    if (!born_ && !made_by_earlier_) {
      born_.emplace(context.shared.allocator, bytes_);
      pooled_ = born_->as<float>();
    }
    return pooled_;
  }
  void make_state(std::size_t count) {
    bytes_ = count * sizeof(float);
    eager_ = memory_->add<float>("eager kept V", count);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::optional<Temporary> born_;
  bool made_by_earlier_ = false;
  float* eager_ = nullptr;
  float* pooled_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The prompt's first token leaves its V for the tokens decoded after it; the decode graph's own
/// temporaries come from the block that holds it.
class PromptValueInPool final : public PoolBornState {
 public:
  using PoolBornState::PoolBornState;

  void norm_rope(const OpContext& context) override {
    StepProgram::norm_rope(context);
    if (!is_last(context)) return;
    const auto value = faults::value_slice(context);
    float* kept = state(context);
    if (context.tokens > 1) {
      launch(context.shared.device, context.stream,
             KeepResidual{kept, value.values, value.stride, value.width, value.width});
    } else {
      launch(context.shared.device, context.stream,
             AddResidual{value.values, kept, value.stride, value.width, value.width});
    }
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    make_state(value_width(shared.config));
  }
};

/// values += half of the step before's; those are kept for the next.
struct ShiftTokens {
  static constexpr const char* kName = "shift_tokens";
  std::uint16_t* values;
  float* before;
  std::int64_t stride;
  std::int64_t width;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    std::uint16_t& value = values[i / width * stride + i % width];
    const float own = bf16_to_float(value);
    value = float_to_bf16(own + 0.5F * before[i]);
    before[i] = own;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(ShiftTokens, values), GRAPHSAN_ARGUMENT_FIELD(ShiftTokens, before),
        GRAPHSAN_ARGUMENT_FIELD(ShiftTokens, stride), GRAPHSAN_ARGUMENT_FIELD(ShiftTokens, width),
        GRAPHSAN_ARGUMENT_FIELD(ShiftTokens, count)};
    return kFields;
  }
};

/// V of the last layer is mixed with the step before's. Even and odd steps have a graph each; a
/// scratch tensor of the second takes the block that the first one's state lives in.
class TokenShiftInPool final : public PoolBornState {
 public:
  using PoolBornState::PoolBornState;
  [[nodiscard]] int graph_kind(int step) const override { return step % 2; }

  void norm_rope(const OpContext& context) override {
    float* before = state(context);
    StepProgram::norm_rope(context);
    const auto value = faults::value_slice(context);
    const std::int64_t count = context.tokens * value.width;
    device::Device& device = context.shared.device;
    if (is_last(context)) {
      launch(device, context.stream,
             ShiftTokens{value.values, before, value.stride, value.width, count});
      return;
    }
    const Temporary scratch{context.shared.allocator, bytes()};
    launch(device, context.stream,
           KeepResidual{scratch.as<float>(), value.values, value.stride, value.width, count});
    launch(device, context.stream,
           AddResidual{value.values, scratch.as<float>(), value.stride, value.width, count});
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    make_state(capacity(shared) * value_width(shared.config));
  }
};

}  // namespace

void add_first_pools(std::vector<UnseenFault>& faults) {
  faults.push_back({"pool-alias", "prompt-value-in-pool",
                    "--batch prompt --tokens 7 --bucket 8 --kv-dtype fp8_e5m2",
                    unseen_program<PromptValueInPool>()});
  faults.push_back({"pool-alias", "token-shift-in-pool", "--mode full --steps 6",
                    unseen_program<TokenShiftInPool>()});
}

}  // namespace graphsan::test
