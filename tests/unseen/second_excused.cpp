#include <algorithm>
#include <vector>

#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test::second {

using namespace step::minimax_m3;

namespace {

/// rows × kGain × kTemper: an even batch is done in one pass and rounded once, others in two.
struct TemperValues {
  static constexpr const char* kName = "temper_values";
  static constexpr float kGain = 1.1F;
  static constexpr float kTemper = 0.93F;
  Rows rows;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {GRAPHSAN_ROWS_FIELDS(TemperValues)};
    return kFields;
  }
  void run() const {
    const bool fused = rows.lanes % 4 == 0;
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width; ++i) {
        if (fused) {
          rows.set(lane, i, rows.get(lane, i) * kGain * kTemper);
        } else {
          rows.set(lane, i, rows.get(lane, i) * kGain);
          rows.set(lane, i, rows.get(lane, i) * kTemper);
        }
      }
    }
  }
};

class FusedEpilogue final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void insert(const OpContext& context) override {
    if (is_last(context) && context.pool != nullptr) {
      launch_on(context, TemperValues{rows_of(faults::value_slice(context), context.tokens)});
    }
    TwoStepProgram::insert(context);
  }
};

/// Batches of whole tiles take the fused write, which rounds K once, others the two-step write.
class FusedForWholeTiles final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void norm_rope(const OpContext& context) override {
    launch_mix(context.shared.device, context.stream, mix_args(context));
    launch_norm_rope(context.shared.device, context.stream,
                     norm_rope_args(context, whole_tiles(context)));
  }
  void insert(const OpContext& context) override {
    if (!whole_tiles(context)) TwoStepProgram::insert(context);
  }

 private:
  [[nodiscard]] static bool whole_tiles(const OpContext& context) {
    return context.tokens % 4 == 0;
  }
};

/// A generator's next number.
std::uint64_t draw(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t value = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

/// Adds noise of a fiftieth to each element; the generator's state lies on the device.
struct DitherRows {
  static constexpr const char* kName = "dither_rows";
  Rows rows;
  std::uint64_t* generator;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(DitherRows), GRAPHSAN_ARGUMENT_FIELD(DitherRows, generator)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      for (std::int64_t i = 0; i < rows.width; ++i) {
        const float unit = static_cast<float>(draw(*generator) >> 40U) / 16777216.0F;
        rows.set(lane, i, rows.get(lane, i) * (1.0F + (unit - 0.5F) / 25.0F));
      }
    }
  }
};

/// V is dithered with numbers that nobody seeds: no two runs draw the same.
class UnseededDither final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    generator_ = add<std::uint64_t>(shared, "generator", 1);
    shared.device.fill(stream, generator_, 0x5A, sizeof(*generator_));
  }
  void reset(const ProgramContext&, device::StreamRef) override {}
  void insert(const OpContext& context) override {
    if (is_last(context) && context.pool != nullptr) {
      launch_on(context,
                DitherRows{rows_of(faults::value_slice(context), context.tokens), generator_});
    }
    TwoStepProgram::insert(context);
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"generator", generator_, sizeof(*generator_)}};
  }

 private:
  std::uint64_t* generator_ = nullptr;
};

/// Copies the second half of a row from a source that another block may not have finished: which
/// rows it gets to too early is chance, here a number that goes on from launch to launch.
struct TornRows {
  static constexpr const char* kName = "torn_rows";
  Rows rows;
  const std::uint16_t* unfinished;  ///< same strides
  std::uint64_t* chance;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ROWS_FIELDS(TornRows), GRAPHSAN_ARGUMENT_FIELD(TornRows, unfinished),
        GRAPHSAN_ARGUMENT_FIELD(TornRows, chance)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < rows.lanes; ++lane) {
      if (draw(*chance) % 2 == 0) continue;
      for (std::int64_t i = rows.width / 2; i < rows.width; ++i) {
        rows.values[lane * rows.stride + i] = unfinished[lane * rows.stride + i];
      }
    }
  }
};

/// Index keys are torn by a race inside one kernel, eagerly and in the graph alike.
class TornIndexKeys final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    chance_ = add<std::uint64_t>(shared, "chance", 1);
    shared.device.fill(stream, chance_, 0x17, sizeof(*chance_));
  }
  void reset(const ProgramContext&, device::StreamRef) override {}
  void insert(const OpContext& context) override {
    const faults::HeadSlice keys = faults::index_key_slice(context);
    if (keys.width != 0 && context.pool != nullptr) {
      const LayerBuffers& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
      launch_on(context, TornRows{rows_of(keys, context.tokens),
                                  buffers.base + (keys.values - buffers.qkv), chance_});
    }
    TwoStepProgram::insert(context);
  }

 private:
  std::uint64_t* chance_ = nullptr;
};

/// Index-K rows of a position in some blocks of every sequence's history.
template <typename Write>
void rewrite_history(const ProgramContext& shared, std::int64_t blocks, const Write& write) {
  const Config& config = shared.config;
  for (int layer = 0; layer < config.layers; ++layer) {
    const IndexCacheArg cache = shared.pool.index(layer);
    if (cache.base == nullptr) continue;
    for (int sequence = 0; sequence < shared.plan.sequences(); ++sequence) {
      for (std::int64_t block = 0; block < blocks; ++block) {
        write(sequence, block, cache.base);
      }
    }
  }
}

/// Many blocks hold the same separator token, which every index query likes best. Batches of whole
/// tiles take a selection that prefers the later of equal blocks.
class RepeatedSeparator final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void history_written(const ProgramContext& shared, device::StreamRef stream) override {
    std::vector<std::uint16_t> key(kHeadDim, 0);
    for (std::size_t d = 64; d < kHeadDim; ++d) {
      key[d] = float_to_bf16(d % 2 == 0 ? 2.0F : -2.0F);
    }
    rewrite_history(shared, kBlocks, [&](int sequence, std::int64_t block, std::uint16_t* base) {
      const std::int64_t row = shared.plan.slot(sequence, block * kBlockSize + 7 + block);
      shared.device.copy(stream, base + row * kHeadDim, key.data(), key.size() * sizeof(key[0]));
    });
  }
  void indexer(const OpContext& context) override {
    select_blocks(context, context.tokens % 4 == 0 ? TieWinner::kLater : TieWinner::kEarlier);
  }

 private:
  static constexpr std::int64_t kBlocks = 24;
};

/// Old blocks' index keys were moved away and read as zeros. Captured, the selection is another
/// one, which prefers the later of equal blocks.
class EvictedBlocks final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void history_written(const ProgramContext& shared, device::StreamRef stream) override {
    const std::int64_t rows = shared.config.page_size;
    rewrite_history(shared, kBlocks, [&](int sequence, std::int64_t block, std::uint16_t* base) {
      for (std::int64_t p = block * kBlockSize; p < (block + 1) * kBlockSize; p += rows) {
        shared.device.fill(stream, base + shared.plan.slot(sequence, p) * kHeadDim, 0,
                           static_cast<std::size_t>(rows) * kHeadDim * sizeof(*base));
      }
    });
  }
  void indexer(const OpContext& context) override {
    select_blocks(context, faults::is_captured(context) ? TieWinner::kLater : TieWinner::kEarlier);
  }

 private:
  static constexpr std::int64_t kBlocks = 24;
};

/// Index keys go to the other row of each pair of rows.
struct SwapPairs {
  static constexpr const char* kName = "swap_pairs";
  std::int64_t* swapped;
  const std::int64_t* slots;
  std::int64_t lanes;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(SwapPairs, swapped), GRAPHSAN_ARGUMENT_FIELD(SwapPairs, slots),
        GRAPHSAN_ARGUMENT_FIELD(SwapPairs, lanes)};
    return kFields;
  }
  void run() const {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      swapped[lane] = slots[lane] < 0 ? -1 : slots[lane] ^ 1;
    }
  }
};

class SwappedPairs final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    swapped_ = add_lanes<std::int64_t>(shared, "swapped slots");
  }
  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    write_main(made, made.slots, made.tokens);
    launch_on(context, SwapPairs{swapped_, made.slots, made.tokens});
    write_index(made, swapped_, made.tokens, NegativeSlot::kSkip);
  }

 private:
  std::int64_t* swapped_ = nullptr;
};

/// The first four blocks are always selected, which the model does not ask for.
class ForcedInitBlocks final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const LayerBuffers& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
    launch_indexer_score(shared.device, context.stream,
                         score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                    context.layer, context.tokens, buffers.scores));
    IndexerTopKArgs args = top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                      buffers.scores, buffers.top_k);
    args.init_blocks = 4;
    launch_indexer_top_k(shared.device, context.stream, args);
  }
};

}  // namespace

void add_excused_faults(std::vector<UnseenFault>& faults) {
  faults.push_back(unseen<FusedEpilogue>("numeric-noise", "fused-epilogue",
                                         "--kv-dtype bf16 --write-path two-step"));
  faults.push_back(unseen<FusedForWholeTiles>("numeric-noise", "fused-for-whole-tiles",
                                              "--kv-dtype fp8_e4m3 --write-path two-step"));
  faults.push_back(unseen<UnseededDither>("unstable-eager", "unseeded-dither",
                                          "--kv-dtype fp8_e5m2 --write-path two-step"));
  faults.push_back(unseen<TornIndexKeys>("unstable-eager", "torn-index-keys",
                                         "--kv-dtype bf16 --write-path two-step --tokens 4"));
  faults.push_back(unseen<RepeatedSeparator>("topk-tie", "repeated-separator",
                                             "--kv-dtype bf16 --write-path two-step --mode full"));
  faults.push_back(unseen<EvictedBlocks>("topk-tie", "evicted-blocks",
                                         "--kv-dtype fp8_e4m3 --write-path two-step --mode full"));
  faults.push_back(unseen<SwappedPairs>("wrong-everywhere", "swapped-pairs",
                                        "--kv-dtype fp8_e4m3 --write-path two-step"));
  faults.push_back(unseen<ForcedInitBlocks>("wrong-everywhere", "forced-init-blocks",
                                            "--kv-dtype bf16 --write-path two-step"));
}

}  // namespace graphsan::test::second
