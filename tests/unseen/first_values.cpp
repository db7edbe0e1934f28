#include <cmath>

#include "tests/unseen/first.hpp"
#include "tests/unseen/unseen_program.hpp"

namespace graphsan::test {

using step::minimax_m3::bf16_to_float;
using step::minimax_m3::Config;
using step::minimax_m3::float_to_bf16;
using step::minimax_m3::InsertContext;
using step::minimax_m3::kBlockSize;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;

namespace {

/// A well mixed 64-bit number.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ULL;
  return x ^ (x >> 32);
}

// frozen-scalar -----------------------------------------------------------------------------------

/// Multiplies bf16 values by a number that the host worked out.
struct TemperQueries {
  static constexpr const char* kName = "temper_queries";
  std::uint16_t* queries;
  std::int64_t count;
  float factor;
  void operator()(std::int64_t i) const {
    queries[i] = float_to_bf16(bf16_to_float(queries[i]) * factor);
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(TemperQueries, queries),
        GRAPHSAN_ARGUMENT_FIELD(TemperQueries, count),
        GRAPHSAN_ARGUMENT_FIELD(TemperQueries, factor)};
    return kFields;
  }
};

/// Attention temperature grows with the longest context, which the host knows.
class TemperatureByValue final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }

  void norm_rope(const OpContext& context) override {
    StepProgram::norm_rope(context);
    const double longest =
        context.metadata == nullptr ? 1.0 : static_cast<double>(context.metadata->max_context);
    launch(context.shared.device, context.stream,
           TemperQueries{.queries = buffers_of(context).q,
                         .count = context.tokens * faults::output_slice(context).width,
                         .factor = static_cast<float>(1.0 + 0.1 * std::log(longest))});
  }
};

/// out[i] = ring[first + i].
struct TakeFromRing {
  static constexpr const char* kName = "take_from_ring";
  std::int64_t* out;
  const std::int64_t* ring;
  std::int64_t first;
  std::int64_t count;
  void operator()(std::int64_t i) const { out[i] = ring[first + i]; }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(TakeFromRing, out), GRAPHSAN_ARGUMENT_FIELD(TakeFromRing, ring),
        GRAPHSAN_ARGUMENT_FIELD(TakeFromRing, first), GRAPHSAN_ARGUMENT_FIELD(TakeFromRing, count)};
    return kFields;
  }
};

/// One tensor holds the index-K slots of the last four steps; the host passes where this step's
/// begin.
class RingEntryByValue final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    shared.device.fill(stream, ring_, 0xFF, kDepth * entry_ * sizeof(std::int64_t));
  }
  void refill(const RefillContext& context) override {
    context.shared.device.copy(
        context.stream, ring_ + first_of(context.step), context.lanes.slots,
        static_cast<std::size_t>(context.metadata.length) * sizeof(std::int64_t));
  }
  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (!is_last(context) || write.cache.key == nullptr) return StepProgram::insert(context);
    const int step = context.metadata == nullptr ? 0 : context.metadata->step;
    launch(context.shared.device, context.stream,
           TakeFromRing{slots_, ring_, first_of(step), context.tokens});
    write_main(write, write.slots, write.tokens);
    write_index(write, slots_, write.tokens, NegativeSlot::kSkip);
  }

 private:
  static constexpr std::size_t kDepth = 4;

  [[nodiscard]] std::int64_t first_of(int step) const {
    return step < 0 ? 0 : step % static_cast<int>(kDepth) * static_cast<std::int64_t>(entry_);
  }
  void make_memory(const ProgramContext& shared) override {
    entry_ = capacity(shared);
    ring_ = memory_->add<std::int64_t>("slots of four steps", kDepth * entry_);
    slots_ = memory_->add<std::int64_t>("slots of this step", entry_);
  }
  std::size_t entry_ = 0;
  std::int64_t* ring_ = nullptr;
  std::int64_t* slots_ = nullptr;
};

// frozen-rng --------------------------------------------------------------------------------------

/// Drops a quarter of the output's elements; element i draws number `offset + i` of the seed.
struct DropOutput {
  static constexpr const char* kName = "dropout";
  std::uint16_t* out;
  std::uint64_t philox_seed;
  std::uint64_t philox_offset;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const auto draw =
        mix_bits(mix_bits(philox_seed) + philox_offset + static_cast<std::uint64_t>(i));
    if (draw % 4 == 0) out[i] = 0;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(DropOutput, out), GRAPHSAN_ARGUMENT_FIELD(DropOutput, philox_seed),
        GRAPHSAN_ARGUMENT_FIELD(DropOutput, philox_offset),
        GRAPHSAN_ARGUMENT_FIELD(DropOutput, count)};
    return kFields;
  }
};

/// Dropout after attention of the last layer; each launch takes the next numbers of a generator
/// whose offset the host keeps.
class DropoutByValue final : public UnseenProgram {
 public:
  explicit DropoutByValue(const Config& config) : UnseenProgram{config}, seed_{config.seed} {}
  [[nodiscard]] bool follows_reference() const override { return false; }

  void reset(const ProgramContext&, device::StreamRef) override { offset_ = 0; }
  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    if (!is_last(context) || context.metadata == nullptr || context.pool == nullptr) return;
    const auto out = faults::output_slice(context);
    launch(context.shared.device, context.stream,
           DropOutput{out.values, seed_, offset_, context.tokens * out.width});
    offset_ += kDraws;
  }

 private:
  static constexpr std::uint64_t kDraws = 1 << 20;  ///< more than a launch takes
  std::uint64_t seed_;
  std::uint64_t offset_ = 0;
};

/// Adds noise of one draw an element to the scores of visible blocks.
struct ExploreScores {
  static constexpr const char* kName = "explore_scores";
  float* scores;  ///< [heads, lanes, blocks]
  const std::int32_t* seq_lens;
  std::int64_t lanes;
  std::int64_t blocks;
  std::uint64_t seed;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const std::int64_t block = i % blocks;
    const std::int64_t lane = i / blocks % lanes;
    const std::int64_t head = i / blocks / lanes;
    if (block * kBlockSize >= seq_lens[lane]) return;
    const auto id = static_cast<std::uint64_t>((head << 40) + (lane << 20) + block);
    scores[i] += static_cast<float>(mix_bits(seed + mix_bits(id + 1)) % 4096) / 128.0F;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(ExploreScores, scores),
        GRAPHSAN_ARGUMENT_FIELD(ExploreScores, seq_lens),
        GRAPHSAN_ARGUMENT_FIELD(ExploreScores, lanes),
        GRAPHSAN_ARGUMENT_FIELD(ExploreScores, blocks),
        GRAPHSAN_ARGUMENT_FIELD(ExploreScores, seed),
        GRAPHSAN_ARGUMENT_FIELD(ExploreScores, count)};
    return kFields;
  }
};

/// The selection explores: noise on the scores, with a seed that the host works out for each step,
/// as a seeded request has it.
class ExplorationByValue final : public UnseenProgram {
 public:
  explicit ExplorationByValue(const Config& config) : UnseenProgram{config}, seed_{config.seed} {}
  [[nodiscard]] bool follows_reference() const override { return false; }

  void reset(const ProgramContext&, device::StreamRef) override { drawn_ = mix_bits(seed_); }
  void refill(const RefillContext& context) override {
    drawn_ = mix_bits(seed_ + 1000 * (static_cast<std::uint64_t>(context.step) + 1));
  }
  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const auto& buffers = buffers_of(context);
    const auto score = score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                  context.layer, context.tokens, buffers.scores);
    launch_indexer_score(shared.device, context.stream, score);
    launch(shared.device, context.stream,
           ExploreScores{
               .scores = buffers.scores,
               .seq_lens = context.lanes.seq_lens,
               .lanes = context.tokens,
               .blocks = score.blocks,
               .seed = drawn_,
               .count = static_cast<std::int64_t>(score.heads) * context.tokens * score.blocks});
    launch_indexer_top_k(shared.device, context.stream,
                         top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                    buffers.scores, buffers.top_k));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace

void add_first_values(std::vector<UnseenFault>& faults) {
  faults.push_back({"frozen-scalar", "temperature-by-value", "--mode full --kv-dtype fp8_e5m2",
                    unseen_program<TemperatureByValue>()});
  faults.push_back({"frozen-scalar", "ring-entry-by-value", "--steps 6 --kv-dtype fp8_e4m3",
                    unseen_program<RingEntryByValue>()});
  faults.push_back({"frozen-rng", "dropout-by-value", "--mode full --layers 3",
                    unseen_program<DropoutByValue>()});
  faults.push_back({"frozen-rng", "exploration-by-value", "--mode full --kv-dtype fp8_e4m3",
                    unseen_program<ExplorationByValue>()});
}

}  // namespace graphsan::test
