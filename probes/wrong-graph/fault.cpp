#include <algorithm>
#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_common_ops.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "probes/wrong-graph/fault_ops.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using device::Temporary;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::kBlockSize;
using step::minimax_m3::LayerBuffers;
using step::minimax_m3::Metadata;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

const LayerBuffers& buffers_of(const OpContext& context) {
  return context.lanes.layers[static_cast<std::size_t>(context.layer)];
}

/// Graphs are captured for two kinds of batch: contexts up to the block's end that comes first in
/// the run, for which a kernel for short ones will do, and longer ones.
class KindByLength : public StepProgram {
 public:
  KindByLength(std::shared_ptr<const step::minimax_m3::InsertPath> path, Repaired repaired)
      : StepProgram{std::move(path)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    shared_ = &shared;
    memory_.emplace(shared.device);
    const int lanes = std::max(shared.exact.capacity, shared.persistent.capacity);
    shortened_ = memory_->add<std::int32_t>("shortened contexts", static_cast<std::size_t>(lanes));
  }
  void reset(const ProgramContext&, device::StreamRef stream) override { memory_->clear(stream); }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

  [[nodiscard]] int graph_kind(int step) const override {
    return longest_context(step) > short_limit() ? 1 : 0;
  }
  [[nodiscard]] int dispatched_kind(int step) const override {
    return repaired_ == Repaired::kYes ? graph_kind(step) : wrong_kind(step);
  }
  [[nodiscard]] std::int64_t dummy_context(int kind) const override {
    return kind == 0 ? 1 : short_limit() + 1;
  }

 protected:
  [[nodiscard]] virtual int wrong_kind(int step) const = 0;

  [[nodiscard]] std::int64_t short_limit() const {
    return (shared_->plan.history() / kBlockSize + 1) * kBlockSize;
  }
  [[nodiscard]] std::int64_t longest_context(int step) const {
    std::int64_t longest = 0;
    for (const model::Lane& lane : shared_->plan.step(step).lanes) {
      longest = std::max(longest, lane.position + 1);
    }
    return longest;
  }
  /// Sequence lengths for the kernel that the host chooses: as they are, or cut at the limit.
  [[nodiscard]] const std::int32_t* lengths_for(const OpContext& context) const {
    if (context.metadata->max_context > short_limit()) return context.lanes.seq_lens;
    launch(context.shared.device, context.stream,
           ClampLengths{context.tokens, shortened_, context.lanes.seq_lens, short_limit()});
    return shortened_;
  }

 private:
  Repaired repaired_;
  const ProgramContext* shared_ = nullptr;
  std::optional<NamedBuffers> memory_;
  std::int32_t* shortened_ = nullptr;
};

/// The indexer's kernel depends on the length; the key is the batch size alone.
class KeyWithoutLength final : public KindByLength {
 public:
  KeyWithoutLength(const Config& config, Repaired repaired)
      : KindByLength{make_insert_path(config), repaired} {}

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const LayerBuffers& buffers = buffers_of(context);
    const std::int32_t* lengths = lengths_for(context);
    auto score = score_args(context.lanes, shared.config, shared.plan, *context.pool, context.layer,
                            context.tokens, buffers.scores);
    score.context.seq_lens = lengths;
    launch_indexer_score(shared.device, context.stream, score);
    auto top_k = top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                            buffers.scores, buffers.top_k);
    top_k.seq_lens = lengths;
    launch_indexer_top_k(shared.device, context.stream, top_k);
  }

 private:
  [[nodiscard]] int wrong_kind(int) const override { return 0; }
};

/// Dense attention's kernel depends on the length; dispatch compares the last position with the
/// limit, and is one token late.
class OneTokenLate final : public KindByLength {
 public:
  OneTokenLate(const Config& config, Repaired repaired)
      : KindByLength{make_insert_path(config), repaired} {}

  void attention(const OpContext& context) override {
    const LayerBuffers& buffers = buffers_of(context);
    if (buffers.top_k != nullptr || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    auto args = attention_args(context.lanes, shared.config, shared.plan, *context.pool,
                               context.layer, context.tokens, buffers.out);
    args.context.seq_lens = lengths_for(context);
    launch_attention(shared.device, context.stream, args);
  }

 private:
  [[nodiscard]] int wrong_kind(int step) const override {
    return longest_context(step) - 1 > short_limit() ? 1 : 0;
  }
};

/// K and V of a token that begins a block are written by a launch of their own, which is there only
/// where the host sees such a token; the key does not say so.
class KeyWithoutBlockStart final : public StepProgram {
 public:
  KeyWithoutBlockStart(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override { shared_ = &shared; }
  [[nodiscard]] int graph_kind(int step) const override {
    return begins_block(shared_->plan.step(step).lanes) ? 1 : 0;
  }
  [[nodiscard]] int dispatched_kind(int step) const override {
    return repaired_ == Repaired::kYes ? graph_kind(step) : 0;
  }
  /// Of a batch with, or without, a token that begins a block.
  [[nodiscard]] std::int64_t dummy_context(int kind) const override {
    return kind == 0 ? 2 : kBlockSize + 1;
  }

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    write_chosen(context, write, 0);
    if (has_block_start(write.metadata)) write_chosen(context, write, 1);
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  static bool begins_block(std::span<const model::Lane> lanes) {
    return std::any_of(lanes.begin(), lanes.end(), [](const model::Lane& lane) {
      return lane.real && lane.position % kBlockSize == 0;
    });
  }
  /// Host code without metadata cannot tell, and launches both.
  static bool has_block_start(const Metadata* metadata) {
    if (metadata == nullptr) return true;
    if (metadata->lanes.empty()) return (metadata->max_context - 1) % kBlockSize == 0;
    return begins_block(metadata->lanes);
  }
  static void write_chosen(const OpContext& context, const InsertContext& write,
                           std::int64_t first) {
    const Temporary chosen{write.allocator,
                           static_cast<std::size_t>(write.tokens) * sizeof(std::int64_t)};
    auto* slots = chosen.as<std::int64_t>();
    launch(write.device, write.stream,
           ChooseSlots{.count = write.tokens,
                       .chosen = slots,
                       .slots = write.slots,
                       .positions = context.lanes.positions,
                       .block = kBlockSize,
                       .first = first});
    write_main(write, slots, write.tokens);
  }

  Repaired repaired_;
  const ProgramContext* shared_ = nullptr;
};

}  // namespace

void add_wrong_graph_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<KeyWithoutLength>(
      "wrong-graph", "key-without-length",
      "the indexer's kernel depends on the context's length, and the key is the batch size alone",
      "--mode full"));
  faults.push_back(fault_and_twin<KeyWithoutBlockStart>(
      "wrong-graph", "key-without-block-start",
      "tokens that begin a block are written by one launch more, and the key does not say so",
      "--kv-dtype fp8_e4m3 --write-path two-step --mode full --layers 3"));
  faults.push_back(fault_and_twin<OneTokenLate>(
      "wrong-graph", "one-token-late",
      "dispatch takes the last position for the length and chooses the graph for short contexts "
      "once too often",
      "--kv-dtype fp8_e5m2 --mode full --generation b"));
}

}  // namespace graphsan::faults
