#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "device/buffer.hpp"
#include "kvcache/row_hash.hpp"
#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_op_list.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "step/minimax_m3/input_data.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using step::Arm;
using step::InputView;
using step::minimax_m3::Config;
using step::minimax_m3::heads_for;
using step::minimax_m3::InputData;
using step::minimax_m3::NamedBuffers;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::StepProgram;

namespace {

/// One input of the step goes through pinned memory to a buffer of its own, which the ops read
/// instead of the step's. The next step's values are put into pinned memory as soon as this step's
/// copy has been issued. The fault: one pinned buffer, and nobody waits for the copy where a graph
/// is replayed. Repaired: two pinned buffers by turns.
class StagedProgram : public StepProgram {
 public:
  StagedProgram(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired}, config_{config} {}

  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    shared_ = &shared;
    view_ = layout();
    const auto lanes =
        static_cast<std::size_t>(std::max(shared.exact.capacity, shared.persistent.capacity));
    bytes_ = lanes * static_cast<std::size_t>(view_.lane_bytes);
    memory_.emplace(shared.device);
    view_.address = memory_->add<std::byte>(view_.name, bytes_);
    for (device::Buffer& buffer : pinned_) {
      buffer = device::Buffer{shared.device, bytes_, device::MemoryKind::kPinnedHost};
    }
    reset(shared, stream);
  }
  /// Every lane is a pad.
  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    shared.device.fill(stream, view_.address, view_.pad_value == 0 ? 0 : 0xFF, bytes_);
    shared.device.synchronize(stream);
    for (const device::Buffer& buffer : pinned_) std::memset(buffer.data(), 0, bytes_);
  }
  void refill(const RefillContext& context) override;
  [[nodiscard]] std::vector<InputView> inputs(int step, Arm arm) const override {
    InputView view = view_;
    const model::StepFacts& batch = shared_->plan.step(step);
    view.lanes = arm == Arm::kEager ? batch.tokens : batch.bucket;
    view.submitted = kvcache::row_digest(values_of(step)).value;
    return {view};
  }
  void describe(device::AddressMap& map) const override;

 protected:
  /// Name, lane size, type and padding of the staged input.
  [[nodiscard]] virtual InputView layout() const = 0;
  /// Bytes of the real lanes.
  [[nodiscard]] virtual std::vector<std::byte> values_of(int step) const = 0;

  template <typename T>
  [[nodiscard]] T* staged() const {
    return static_cast<T*>(view_.address);
  }
  [[nodiscard]] const ProgramContext& shared() const { return *shared_; }

 private:
  /// Host code: the pinned buffer gets a step's values, pads included.
  void stage(int step, void* buffer) const;

  Repaired repaired_;
  Config config_;
  const ProgramContext* shared_ = nullptr;
  InputView view_;
  std::size_t bytes_ = 0;
  std::optional<NamedBuffers> memory_;
  std::array<device::Buffer, 2> pinned_;
};

void StagedProgram::stage(int step, void* buffer) const {
  const std::vector<std::byte> values = values_of(step);
  std::memset(buffer, view_.pad_value == 0 ? 0 : 0xFF, bytes_);
  std::memcpy(buffer, values.data(), values.size());
}

void StagedProgram::refill(const RefillContext& context) {
  device::Device& device = context.shared.device;
  const auto turn = [&](int step) {
    return pinned_[repaired_ == Repaired::kYes ? static_cast<std::size_t>(step % 2) : 0].data();
  };
  const bool waits = !replays(context);
  stage(context.step, turn(context.step));
  // The stream is still at work on something else when the copy is issued.
  if (!waits) launch(device, context.stream, BusyWait{.count = 1, .microseconds = 2000});
  device.copy(context.stream, view_.address, turn(context.step), bytes_);
  if (waits) device.synchronize(context.stream);
  if (context.step + 1 < config_.steps) stage(context.step + 1, turn(context.step + 1));
}

void StagedProgram::describe(device::AddressMap& map) const {
  memory_->describe(map);
  for (const device::Buffer& buffer : pinned_) {
    const auto begin = reinterpret_cast<std::uint64_t>(buffer.data());
    map.add({.begin = begin,
             .end = begin + buffer.bytes(),
             .owner = device::Owner::kHostPinned,
             .name = view_.name + " in pinned memory"});
  }
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

/// The slot mapping of every write is staged.
class StagedSlots final : public StagedProgram {
 public:
  using StagedProgram::StagedProgram;

  void norm_rope(const OpContext& context) override {
    launch_mix(shared().device, context.stream, mix_args(context));
    auto args = norm_rope_args(context, writes_in_norm_rope());
    if (args.slots != nullptr) args.slots = args.index_slots = staged<const std::int64_t>();
    launch_norm_rope(shared().device, context.stream, args);
  }
  void insert(const OpContext& context) override {
    auto write = insert_context(context);
    write.slots = staged<const std::int64_t>();
    insert_path().insert(write);
  }

 private:
  [[nodiscard]] InputView layout() const override {
    return {.name = "staged slot mapping",
            .lane_stride = 8,
            .lane_bytes = 8,
            .dtype = model::DType::kI64,
            .pad_value = -1};
  }
  [[nodiscard]] std::vector<std::byte> values_of(int step) const override {
    const model::StepFacts& batch = shared().plan.step(step);
    std::vector<std::byte> bytes;
    for (int lane = 0; lane < batch.tokens; ++lane) {
      append(bytes, batch.lanes[static_cast<std::size_t>(lane)].slot);
    }
    return bytes;
  }
};

/// The drawn input of the last layer is staged.
class StagedActivations final : public StagedProgram {
 public:
  StagedActivations(const Config& config, Repaired repaired)
      : StagedProgram{config, repaired},
        layer_{config.layers - 1},
        row_bytes_{2 * row_width(heads_for(
                           config.tp, step::minimax_m3::is_sparse_layer(layer_, config.layers)))} {}

  void norm_rope(const OpContext& context) override {
    auto mix = mix_args(context);
    if (context.layer == layer_) mix.base = staged<const std::uint16_t>();
    launch_mix(shared().device, context.stream, mix);
    launch_norm_rope(shared().device, context.stream,
                     norm_rope_args(context, writes_in_norm_rope()));
  }

 private:
  [[nodiscard]] InputView layout() const override {
    return {.name = "staged activations",
            .lane_stride = row_bytes_,
            .lane_bytes = row_bytes_,
            .dtype = model::DType::kBf16,
            .is_activation = true};
  }
  [[nodiscard]] std::vector<std::byte> values_of(int step) const override {
    const InputData data{shared().config, shared().plan};
    const std::vector<std::uint16_t> rows = data.rows(layer_, step);
    std::vector<std::byte> bytes(rows.size() * sizeof(std::uint16_t));
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    return bytes;
  }

  int layer_;
  std::int64_t row_bytes_;
};

/// The sequence lengths that the indexer and attention read are staged.
class StagedLengths final : public StagedProgram {
 public:
  using StagedProgram::StagedProgram;

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const auto& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
    auto score = score_args(context.lanes, shared().config, shared().plan, *context.pool,
                            context.layer, context.tokens, buffers.scores);
    auto top_k = top_k_args(context.lanes, shared().config, shared().plan, context.tokens,
                            buffers.scores, buffers.top_k);
    score.context.seq_lens = top_k.seq_lens = staged<const std::int32_t>();
    launch_indexer_score(shared().device, context.stream, score);
    launch_indexer_top_k(shared().device, context.stream, top_k);
  }
  void attention(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    auto args = attention_args(context.lanes, shared().config, shared().plan, *context.pool,
                               context.layer, context.tokens, output_slice(context).values);
    args.context.seq_lens = staged<const std::int32_t>();
    launch_attention(shared().device, context.stream, args);
  }

 private:
  [[nodiscard]] InputView layout() const override {
    return {.name = "staged sequence lengths",
            .lane_stride = 4,
            .lane_bytes = 4,
            .dtype = model::DType::kI32};
  }
  [[nodiscard]] std::vector<std::byte> values_of(int step) const override {
    const model::StepFacts& batch = shared().plan.step(step);
    std::vector<std::byte> bytes;
    for (int lane = 0; lane < batch.tokens; ++lane) {
      append(bytes,
             static_cast<std::int32_t>(batch.lanes[static_cast<std::size_t>(lane)].position + 1));
    }
    return bytes;
  }
};

}  // namespace

void add_racy_staging_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<StagedSlots>(
      {"racy-staging", "slots",
       "one pinned buffer holds the slot mapping, refilled while its copy is in flight", ""}));
  faults.push_back(planted<StagedActivations>(
      {"racy-staging", "activations",
       "the last layer's input is overwritten in pinned memory by the next step's",
       "--kv-dtype fp8_e4m3 --write-path two-step --layers 3"}));
  faults.push_back(planted<StagedLengths>(
      {"racy-staging", "lengths",
       "the sequence lengths in pinned memory are the next step's when they are copied",
       "--kv-dtype fp8_e5m2 --write-path two-step --mode full --batch mixed --tokens 6 --bucket "
       "8"}));
}

}  // namespace graphsan::faults
