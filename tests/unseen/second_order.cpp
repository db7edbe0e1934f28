#include <cstring>

#include "kvcache/row_hash.hpp"
#include "step/minimax_m3/ops.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/second_ops.hpp"

namespace graphsan::test::second {

using namespace step::minimax_m3;

namespace {

/// A second stream for what may run beside the step, and the events that fork and join it.
struct SideStream {
  explicit SideStream(device::Device& device)
      : stream{device.create_stream()},
        forked{device.create_event()},
        joined{device.create_event()} {}
  device::Stream stream;
  device::Event forked;
  device::Event joined;
};

/// When captured host code issues the clearing: no edge depends on it.
enum class Issued : std::uint8_t { kAfterWrite, kBeforeWrite };

/// The first layer's slots are copied to scratch, which captured host code clears for its next user
/// on a second stream: after the copy, but not after the write that reads it.
template <Issued kIssued>
class ClearedScratch final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    scratch_ = add_lanes<std::int64_t>(shared, "scratch slots");
    side_.emplace(shared.device);
  }
  void insert(const OpContext& context) override {
    if (context.layer != 0 || context.pool == nullptr) return TwoStepProgram::insert(context);
    device::Device& device = context.shared.device;
    const std::size_t bytes = static_cast<std::size_t>(context.tokens) * sizeof(*scratch_);
    const bool beside = faults::is_captured(context);
    device.copy(context.stream, scratch_, context.lanes.slots, bytes);
    if (beside) device.record(side_->forked.get(), context.stream);
    if (beside && kIssued == Issued::kBeforeWrite) clear_beside(context, bytes);
    InsertContext made = insert_context(context);
    made.slots = scratch_;
    insert_path().insert(made);
    if (beside && kIssued == Issued::kAfterWrite) clear_beside(context, bytes);
    if (beside) {
      device.wait(context.stream, side_->joined.get());
    } else {
      device.fill(context.stream, scratch_, 0xFF, bytes);
    }
  }

 private:
  void clear_beside(const OpContext& context, std::size_t bytes) {
    device::Device& device = context.shared.device;
    device.wait(side_->stream.get(), side_->forked.get());
    device.fill(side_->stream.get(), scratch_, 0xFF, bytes);
    device.record(side_->joined.get(), side_->stream.get());
  }

  std::int64_t* scratch_ = nullptr;
  std::optional<SideStream> side_;
};

/// Captured, index keys are packed and written on a second stream, which is forked before norm and
/// rope rewrite them in place.
class EarlyFork final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    side_.emplace(shared.device);
    packed_ = add<std::uint16_t>(shared, "packed index keys",
                                 static_cast<std::size_t>(shared.persistent.capacity) * kHeadDim);
  }
  void norm_rope(const OpContext& context) override {
    if (runs_beside(context)) {
      context.shared.device.record(side_->forked.get(), context.stream);
    }
    TwoStepProgram::norm_rope(context);
  }
  void insert(const OpContext& context) override {
    if (!runs_beside(context)) return TwoStepProgram::insert(context);
    device::Device& device = context.shared.device;
    InsertContext made = insert_context(context);
    faults::write_main_from(made, made.slots, {});
    made.stream = side_->stream.get();
    device.wait(made.stream, side_->forked.get());
    const HeadsArg heads = made.heads;
    faults::pack_heads(made, heads.q + 2 * heads.kv + heads.index_q, heads.index_k, packed_);
    faults::write_packed_index(made, packed_, made.slots);
    device.record(side_->joined.get(), made.stream);
    device.wait(context.stream, side_->joined.get());
  }

 private:
  [[nodiscard]] static bool runs_beside(const OpContext& context) {
    return is_last(context) && context.pool != nullptr && faults::is_captured(context);
  }
  std::optional<SideStream> side_;
  std::uint16_t* packed_ = nullptr;
};

/// Each lane's slot is handed out once; the host clears the claims where it runs.
class ClaimedSlots final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    lanes_ = static_cast<std::size_t>(shared.persistent.capacity);
    const auto layers = static_cast<std::size_t>(shared.config.layers);
    claims_ = add<std::int32_t>(shared, "claims", lanes_ * layers);
    granted_ = add_lanes<std::int64_t>(shared, "granted slots");
    bytes_ = static_cast<std::int64_t>(lanes_ * layers * sizeof(std::int32_t));
  }
  void insert(const OpContext& context) override {
    std::int32_t* claims = claims_ + static_cast<std::size_t>(context.layer) * lanes_;
    if (!faults::is_captured(context)) {
      context.shared.device.fill(context.stream, claims, 0, lanes_ * sizeof(std::int32_t));
    }
    launch_on(context, ClaimSlots{granted_, claims, context.lanes.slots, context.tokens});
    InsertContext made = insert_context(context);
    made.slots = granted_;
    insert_path().insert(made);
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"claims", claims_, bytes_}};
  }

 private:
  std::size_t lanes_ = 0;
  std::int32_t* claims_ = nullptr;
  std::int64_t* granted_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Keeps a copy of the slots, made anew where it is not valid.
struct KeepSlots {
  static constexpr const char* kName = "keep_slots";
  std::int64_t* kept;
  std::int32_t* valid;
  const std::int64_t* slots;
  std::int64_t lanes;

  static Fields fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(KeepSlots, kept), GRAPHSAN_ARGUMENT_FIELD(KeepSlots, valid),
        GRAPHSAN_ARGUMENT_FIELD(KeepSlots, slots), GRAPHSAN_ARGUMENT_FIELD(KeepSlots, lanes)};
    return kFields;
  }
  void run() const {
    if (*valid != 0) return;
    std::memcpy(kept, slots, static_cast<std::size_t>(lanes) * sizeof(*slots));
    *valid = 1;
  }
};

/// All layers write through one copy of the slots; that it is out of date is noted by the host,
/// before the first layer, where it runs.
class KeptSlots final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    kept_ = add_lanes<std::int64_t>(shared, "kept slots");
    valid_ = add<std::int32_t>(shared, "slots are valid", 1);
  }
  void insert(const OpContext& context) override {
    if (context.layer == 0 && !faults::is_captured(context)) {
      context.shared.device.fill(context.stream, valid_, 0, sizeof(*valid_));
    }
    launch_on(context, KeepSlots{kept_, valid_, context.lanes.slots, context.tokens});
    InsertContext made = insert_context(context);
    made.slots = kept_;
    insert_path().insert(made);
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"slots are valid", valid_, sizeof(*valid_)}};
  }

 private:
  std::int64_t* kept_ = nullptr;
  std::int32_t* valid_ = nullptr;
};

template <typename T>
std::uint64_t digest_of(const std::vector<T>& values, int count) {
  return kvcache::row_digest(
             std::as_bytes(std::span{values}.first(static_cast<std::size_t>(count))))
      .value;
}

/// Lengths and sequences go through one pinned buffer, one after the other. Before a replay nobody
/// waits for the first copy.
class OneStagingBuffer final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    lengths_ = add_lanes<std::int32_t>(shared, "staged lengths");
    sequences_ = add_lanes<std::int32_t>(shared, "staged sequences");
    staging_ = device::Buffer{
        shared.device, static_cast<std::size_t>(shared.persistent.capacity) * sizeof(std::int32_t),
        device::MemoryKind::kPinnedHost};
  }
  void refill(const RefillContext& context) override {
    const auto lanes = static_cast<std::size_t>(context.metadata.length);
    lanes_ = context.metadata.length;
    std::vector<std::int32_t> lengths(lanes, 0);
    std::vector<std::int32_t> sequences(lanes, 0);
    for (int lane = 0; lane < context.metadata.tokens; ++lane) {
      const auto i = static_cast<std::size_t>(lane);
      lengths[i] = static_cast<std::int32_t>(context.metadata.lanes[i].position + 1);
      sequences[i] = context.metadata.lanes[i].sequence;
    }
    submitted_lengths_ = digest_of(lengths, context.metadata.tokens);
    submitted_sequences_ = digest_of(sequences, context.metadata.tokens);
    send(context, lengths_, lengths);
    send(context, sequences_, sequences);
  }
  void attention(const OpContext& context) override {
    if (!is_last(context) || context.pool == nullptr || context.metadata == nullptr) {
      return TwoStepProgram::attention(context);
    }
    const ProgramContext& shared = context.shared;
    AttentionArgs args = attention_args(
        context.lanes, shared.config, shared.plan, *context.pool, context.layer, context.tokens,
        context.lanes.layers[static_cast<std::size_t>(context.layer)].out);
    args.context.seq_lens = lengths_;
    args.context.lane_sequence = sequences_;
    launch_attention(shared.device, context.stream, args);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"staged lengths", lengths_, 4, 4, lanes_, model::DType::kI32, false, 0,
             submitted_lengths_},
            {"staged sequences", sequences_, 4, 4, lanes_, model::DType::kI32, false, 0,
             submitted_sequences_}};
  }

 private:
  void send(const RefillContext& context, std::int32_t* to, const std::vector<std::int32_t>& from) {
    const std::size_t bytes = from.size() * sizeof(from[0]);
    std::memcpy(staging_.data(), from.data(), bytes);
    context.shared.device.copy(context.stream, to, staging_.data(), bytes);
    if (!faults::replays(context)) context.shared.device.synchronize(context.stream);
  }

  device::Buffer staging_;
  std::int32_t* lengths_ = nullptr;
  std::int32_t* sequences_ = nullptr;
  int lanes_ = 0;
  std::optional<std::uint64_t> submitted_lengths_;
  std::optional<std::uint64_t> submitted_sequences_;
};

/// Slots come by a copy stream, which a replay does not wait for.
class CopyStream final : public TwoStepProgram {
 public:
  using TwoStepProgram::TwoStepProgram;
  void bind(const ProgramContext& shared, device::StreamRef) override {
    slots_ = add_lanes<std::int64_t>(shared, "streamed slots");
    staging_ = device::Buffer{
        shared.device, static_cast<std::size_t>(shared.persistent.capacity) * sizeof(std::int64_t),
        device::MemoryKind::kPinnedHost};
    side_.emplace(shared.device);
  }
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    shared.device.synchronize(side_->stream.get());
    shared.device.fill(stream, slots_, 0xFF, staging_.bytes());
  }
  void refill(const RefillContext& context) override {
    device::Device& device = context.shared.device;
    device.synchronize(side_->stream.get());  // the buffer is free again
    lanes_ = context.metadata.length;
    std::vector<std::int64_t> slots(static_cast<std::size_t>(lanes_), -1);
    for (int lane = 0; lane < context.metadata.tokens; ++lane) {
      const auto i = static_cast<std::size_t>(lane);
      slots[i] = context.metadata.lanes[i].slot;
    }
    submitted_ = digest_of(slots, context.metadata.tokens);
    const std::size_t bytes = slots.size() * sizeof(slots[0]);
    std::memcpy(staging_.data(), slots.data(), bytes);
    device.copy(side_->stream.get(), slots_, staging_.data(), bytes);
    if (faults::replays(context)) return;
    device.record(side_->joined.get(), side_->stream.get());
    device.wait(context.stream, side_->joined.get());
  }
  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    made.slots = slots_;
    insert_path().insert(made);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"streamed slots", slots_, 8, 8, lanes_, model::DType::kI64, false, -1, submitted_}};
  }

 private:
  device::Buffer staging_;
  std::optional<SideStream> side_;
  std::int64_t* slots_ = nullptr;
  int lanes_ = 0;
  std::optional<std::uint64_t> submitted_;
};

}  // namespace

void add_order_faults(std::vector<UnseenFault>& faults) {
  faults.push_back(unseen<ClearedScratch<Issued::kAfterWrite>>(
      "missing-dependency", "cleared-scratch", "--kv-dtype fp8_e4m3 --write-path two-step"));
  faults.push_back(unseen<ClearedScratch<Issued::kBeforeWrite>>(
      "missing-dependency", "cleared-scratch-issued-first",
      "--kv-dtype fp8_e4m3 --write-path two-step"));
  faults.push_back(unseen<EarlyFork>("missing-dependency", "early-fork",
                                     "--kv-dtype bf16 --write-path two-step"));
  faults.push_back(unseen<ClaimedSlots>("missing-reset", "claimed-slots",
                                        "--kv-dtype fp8_e5m2 --write-path two-step --tokens 6"));
  faults.push_back(unseen<KeptSlots>("missing-reset", "kept-slots",
                                     "--kv-dtype bf16 --write-path two-step --mode full"));
  faults.push_back(unseen<OneStagingBuffer>("racy-staging", "one-staging-buffer",
                                            "--kv-dtype bf16 --write-path two-step --mode full"));
  faults.push_back(unseen<CopyStream>("racy-staging", "copy-stream",
                                      "--kv-dtype fp8_e4m3 --write-path two-step"));
}

}  // namespace graphsan::test::second
