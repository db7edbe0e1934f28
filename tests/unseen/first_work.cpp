#include "tests/unseen/first.hpp"
#include "tests/unseen/unseen_program.hpp"

namespace graphsan::test {

using step::minimax_m3::bf16_to_float;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::NormRopeArgs;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;

namespace {

// elided-write ------------------------------------------------------------------------------------

/// K and V of the last layer are written request by request, as the batch lists them; a dummy batch
/// lists none.
class RequestByRequest final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (!is_last(context) || write.cache.key == nullptr) return StepProgram::insert(context);
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
    if (context.metadata == nullptr) return;
    const auto& requests = context.metadata->lanes;
    for (std::size_t lane = 0; lane < requests.size(); ++lane) {
      if (!requests[lane].real) continue;
      InsertContext one = write;
      one.qkv += static_cast<std::int64_t>(lane) * write.row_width;
      one.tokens = 1;
      write_main(one, write.slots + lane, 1);
    }
  }
};

/// The fused op is handed the main caches only for a batch that has tokens.
class CachesOfRealTokens final : public UnseenProgram {
 public:
  explicit CachesOfRealTokens(const Config& config)
      : UnseenProgram{config, make_insert_path(config)} {}

  void norm_rope(const OpContext& context) override {
    NormRopeArgs args = norm_rope_args(context, writes_in_norm_rope());
    if (context.metadata == nullptr || context.metadata->tokens == 0) {
      args.cache.key = nullptr;
      args.cache.value = nullptr;
    }
    launch_mix(context.shared.device, context.stream, mix_args(context));
    launch_norm_rope(context.shared.device, context.stream, args);
  }
};

// branch-at-capture -------------------------------------------------------------------------------

/// out = the lane's own V for each query head: attention over a context of one token.
struct CopyValueToHeads {
  static constexpr const char* kName = "copy_value_to_heads";
  std::uint16_t* out;  ///< [lanes, width]
  const std::uint16_t* value;
  std::int64_t value_stride;
  std::int64_t width;
  std::int64_t heads_per_value;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const std::int64_t head = i % width / kHeadDim / heads_per_value;
    out[i] = value[i / width * value_stride + head * kHeadDim + i % kHeadDim];
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(CopyValueToHeads, out),
        GRAPHSAN_ARGUMENT_FIELD(CopyValueToHeads, value),
        GRAPHSAN_ARGUMENT_FIELD(CopyValueToHeads, value_stride),
        GRAPHSAN_ARGUMENT_FIELD(CopyValueToHeads, width),
        GRAPHSAN_ARGUMENT_FIELD(CopyValueToHeads, heads_per_value),
        GRAPHSAN_ARGUMENT_FIELD(CopyValueToHeads, count)};
    return kFields;
  }
};

/// A batch whose contexts are one token long needs no attention: the shortcut of a first token.
class OneTokenShortcut final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void attention(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    if (context.metadata->max_context > 1) return StepProgram::attention(context);
    const auto out = faults::output_slice(context);
    const auto value = faults::value_slice(context);
    launch(context.shared.device, context.stream,
           CopyValueToHeads{.out = out.values,
                            .value = value.values,
                            .value_stride = value.stride,
                            .width = out.width,
                            .heads_per_value = out.width / value.width,
                            .count = context.tokens * out.width});
  }
};

/// Slots of a context that lies in the first page of its sequence.
struct FirstPageSlots {
  static constexpr const char* kName = "first_page_slots";
  std::int64_t* out;
  const std::int64_t* slots;
  const std::int64_t* positions;
  const std::int32_t* lane_sequence;
  const std::int32_t* block_table;
  std::int64_t table_stride;
  std::int64_t page_size;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const std::int64_t page = block_table[lane_sequence[i] * table_stride];
    out[i] = slots[i] < 0 ? -1 : page * page_size + positions[i] % page_size;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, out),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, slots),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, positions),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, lane_sequence),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, block_table),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, table_stride),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, page_size),
        GRAPHSAN_ARGUMENT_FIELD(FirstPageSlots, count)};
    return kFields;
  }
};

/// Index-K goes straight to the first page while the longest context fits into it.
class OnePageShortcut final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    const bool one_page = context.metadata != nullptr &&
                          context.metadata->max_context <= context.shared.config.page_size;
    if (!one_page || write.cache.key == nullptr) return StepProgram::insert(context);
    const auto& lanes = context.lanes;
    launch(context.shared.device, context.stream,
           FirstPageSlots{.out = slots_,
                          .slots = lanes.slots,
                          .positions = lanes.positions,
                          .lane_sequence = lanes.lane_sequence,
                          .block_table = lanes.block_table,
                          .table_stride = context.shared.plan.table_stride(),
                          .page_size = context.shared.config.page_size,
                          .count = context.tokens});
    write_main(write, write.slots, write.tokens);
    write_index(write, slots_, write.tokens, NegativeSlot::kSkip);
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    slots_ = memory_->add<std::int64_t>("first-page slots", capacity(shared));
  }
  std::int64_t* slots_ = nullptr;
};

// escaped-launch ----------------------------------------------------------------------------------

/// Work on a second stream, which a capture leaves alone since it "may not wait for events".
class SecondStreamProgram : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

 protected:
  void make_memory(const ProgramContext& shared) override {
    second_ = shared.device.create_stream();
    before_ = shared.device.create_event();
    after_ = shared.device.create_event();
  }
  template <typename Work>
  void on_second(const OpContext& context, const Work& work) {
    device::Device& device = context.shared.device;
    const bool captured = faults::is_captured(context);
    if (!captured) {
      device.record(before_.get(), context.stream);
      device.wait(second_.get(), before_.get());
    }
    work(second_.get());
    if (!captured) {
      device.record(after_.get(), second_.get());
      device.wait(context.stream, after_.get());
    }
  }

 private:
  device::Stream second_;
  device::Event before_;
  device::Event after_;
};

/// The top-k runs on the second stream.
class TopKElsewhere final : public SecondStreamProgram {
 public:
  using SecondStreamProgram::SecondStreamProgram;

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const auto& buffers = buffers_of(context);
    launch_indexer_score(shared.device, context.stream,
                         score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                    context.layer, context.tokens, buffers.scores));
    on_second(context, [&](device::StreamRef stream) {
      launch_indexer_top_k(shared.device, stream,
                           top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                      buffers.scores, buffers.top_k));
    });
  }
};

/// V is staged by copies on the second stream, and written from there.
class ValueStagedElsewhere final : public SecondStreamProgram {
 public:
  using SecondStreamProgram::SecondStreamProgram;

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (!is_last(context) || write.cache.key == nullptr) return StepProgram::insert(context);
    const auto value = faults::value_slice(context);
    on_second(context, [&](device::StreamRef stream) {
      for (std::int64_t lane = 0; lane < context.tokens; ++lane) {
        context.shared.device.copy(stream, staged_ + lane * value.width,
                                   value.values + lane * value.stride,
                                   static_cast<std::size_t>(value.width) * sizeof(std::uint16_t));
      }
    });
    step::minimax_m3::launch_reshape_and_cache(context.shared.device, context.stream,
                                               {.key = faults::key_slice(context).values,
                                                .value = staged_,
                                                .key_stride = value.stride,
                                                .value_stride = value.width,
                                                .slots = write.slots,
                                                .k_scale = nullptr,
                                                .v_scale = nullptr,
                                                .cache = write.cache,
                                                .tokens = write.tokens,
                                                .scale_count = 1});
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    SecondStreamProgram::make_memory(shared);
    staged_ =
        memory_->add<std::uint16_t>("staged V", capacity(shared) * value_width(shared.config));
  }
  std::uint16_t* staged_ = nullptr;
};

}  // namespace

void add_first_work(std::vector<UnseenFault>& faults) {
  faults.push_back({"elided-write", "request-by-request", "--mode full --kv-dtype fp8_e5m2",
                    unseen_program<RequestByRequest>()});
  faults.push_back({"elided-write", "caches-of-real-tokens", "--kv-dtype fp8_e4m3 --layout hnd",
                    unseen_program<CachesOfRealTokens>()});
  faults.push_back({"branch-at-capture", "one-token-shortcut", "--mode full --layers 3",
                    unseen_program<OneTokenShortcut>()});
  faults.push_back({"branch-at-capture", "one-page-shortcut", "--mode full --kv-dtype fp8_e4m3",
                    unseen_program<OnePageShortcut>()});
  faults.push_back({"escaped-launch", "top-k-elsewhere", "--mode full --generation b",
                    unseen_program<TopKElsewhere>()});
  faults.push_back({"escaped-launch", "value-staged-elsewhere", "--kv-dtype fp8_e4m3",
                    unseen_program<ValueStagedElsewhere>()});
}

}  // namespace graphsan::test
