#include <array>

#include "tests/unseen/first.hpp"
#include "tests/unseen/unseen_program.hpp"

namespace graphsan::test {

using step::minimax_m3::bf16_to_float;
using step::minimax_m3::Config;
using step::minimax_m3::float_to_bf16;
using step::minimax_m3::InsertContext;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;

namespace {

// dead-host-memory --------------------------------------------------------------------------------

/// Index-K slots are made on the host, in one of three lists in turn, and uploaded by the op: the
/// graph's copy names the list of its capture.
class SlotListsInTurn final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void reset(const ProgramContext& shared, device::StreamRef) override {
    live_ = 0;
    for (auto& list : lists_) {
      list.resize(capacity(shared));
      std::fill(list.begin(), list.end(), -1);
    }
  }
  void refill(const RefillContext& context) override {
    live_ = (live_ + 1) % lists_.size();
    std::vector<std::int64_t>& list = lists_[live_];
    std::fill(list.begin(), list.end(), -1);
    for (std::size_t lane = 0; lane < context.metadata.lanes.size(); ++lane) {
      list[lane] = context.metadata.lanes[lane].index_slot;
    }
  }
  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (!is_last(context) || write.cache.key == nullptr) return StepProgram::insert(context);
    context.shared.device.copy(context.stream, slots_, lists_[live_].data(),
                               static_cast<std::size_t>(context.tokens) * sizeof(std::int64_t));
    write_main(write, write.slots, write.tokens);
    write_index(write, slots_, write.tokens, NegativeSlot::kSkip);
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    slots_ = memory_->add<std::int64_t>("uploaded slots", capacity(shared));
    for (auto& list : lists_) list.assign(capacity(shared), -1);
  }
  std::array<std::vector<std::int64_t>, 3> lists_;
  std::size_t live_ = 0;
  std::int64_t* slots_ = nullptr;
};

/// Multiplies element j of each lane by gains[j].
struct ScaleChannels {
  static constexpr const char* kName = "scale_channels";
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  const float* gains;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    std::uint16_t& value = values[i / width * stride + i % width];
    value = float_to_bf16(bf16_to_float(value) * gains[i % width]);
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(ScaleChannels, values),
        GRAPHSAN_ARGUMENT_FIELD(ScaleChannels, stride),
        GRAPHSAN_ARGUMENT_FIELD(ScaleChannels, width),
        GRAPHSAN_ARGUMENT_FIELD(ScaleChannels, gains),
        GRAPHSAN_ARGUMENT_FIELD(ScaleChannels, count)};
    return kFields;
  }
};

/// Gains of V's channels are uploaded through a block of a pool of pinned memory, which goes back
/// as soon as the copy is issued (eagerly: is done); each step's sampling parameters go the same
/// way.
class PinnedBlockRecycled final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }

  void refill(const RefillContext& context) override {
    upload(context.shared.device, context.stream, parameters_, true, [&](std::size_t i) {
      return 0.5F +
             0.01F * static_cast<float>((i * 7 + static_cast<std::size_t>(context.step)) % 50);
    });
  }
  void insert(const OpContext& context) override {
    if (is_last(context)) {
      device::Device& device = context.shared.device;
      upload(device, context.stream, gains_, !faults::is_captured(context),
             [](std::size_t i) { return 1.0F + static_cast<float>(i % 5) / 8.0F; });
      const auto value = faults::value_slice(context);
      launch(device, context.stream,
             ScaleChannels{value.values, value.stride, value.width, gains_,
                           context.tokens * value.width});
    }
    StepProgram::insert(context);
  }

 private:
  template <typename Value>
  void upload(device::Device& device, device::StreamRef stream, float* to, bool wait,
              const Value& value) {
    device::Buffer block = std::move(free_.back());
    free_.pop_back();
    for (std::size_t i = 0; i < width_; ++i) block.as<float>()[i] = value(i);
    device.copy(stream, to, block.data(), width_ * sizeof(float));
    if (wait) device.synchronize(stream);
    free_.push_back(std::move(block));
  }
  void make_memory(const ProgramContext& shared) override {
    width_ = value_width(shared.config);
    gains_ = memory_->add<float>("channel gains", width_);
    parameters_ = memory_->add<float>("sampling parameters", width_);
    for (int i = 0; i < 2; ++i) {
      free_.emplace_back(shared.device, width_ * sizeof(float), device::MemoryKind::kPinnedHost);
    }
  }
  std::vector<device::Buffer> free_;
  std::size_t width_ = 0;
  float* gains_ = nullptr;
  float* parameters_ = nullptr;
};

// padding-write -----------------------------------------------------------------------------------

/// Slot of each lane's position by its block table; a pad lane, position 0 of sequence 0, has one
/// too.
struct SlotsOfPositions {
  static constexpr const char* kName = "slots_of_positions";
  std::int64_t* slots;
  const std::int64_t* positions;
  const std::int32_t* lane_sequence;
  const std::int32_t* block_table;
  std::int64_t table_stride;
  std::int64_t page_size;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const std::int64_t entry = lane_sequence[i] * table_stride + positions[i] / page_size;
    slots[i] = block_table[entry] * page_size + positions[i] % page_size;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, slots),
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, positions),
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, lane_sequence),
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, block_table),
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, table_stride),
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, page_size),
        GRAPHSAN_ARGUMENT_FIELD(SlotsOfPositions, count)};
    return kFields;
  }
};

/// Index-K goes to the slots of the positions.
class SlotsFromPositions final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (!is_last(context) || write.cache.key == nullptr) return StepProgram::insert(context);
    launch(context.shared.device, context.stream,
           SlotsOfPositions{.slots = slots_,
                            .positions = context.lanes.positions,
                            .lane_sequence = context.lanes.lane_sequence,
                            .block_table = context.lanes.block_table,
                            .table_stride = context.shared.plan.table_stride(),
                            .page_size = context.shared.config.page_size,
                            .count = context.tokens});
    write_main(write, write.slots, write.tokens);
    write_index(write, slots_, write.tokens, NegativeSlot::kSkip);
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    slots_ = memory_->add<std::int64_t>("slots of positions", capacity(shared));
  }
  std::int64_t* slots_ = nullptr;
};

/// ring[i] = slots[i] mod rows, unsigned: a ring of rows.
struct RingSlots {
  static constexpr const char* kName = "ring_slots";
  std::int64_t* ring;
  const std::int64_t* slots;
  std::int64_t rows;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    ring[i] = static_cast<std::int64_t>(static_cast<std::uint32_t>(slots[i]) %
                                        static_cast<std::uint32_t>(rows));
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(RingSlots, ring), GRAPHSAN_ARGUMENT_FIELD(RingSlots, slots),
        GRAPHSAN_ARGUMENT_FIELD(RingSlots, rows), GRAPHSAN_ARGUMENT_FIELD(RingSlots, count)};
    return kFields;
  }
};

/// K and V of the first layer are kept in a ring, whose index is unsigned.
class UnsignedRing final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (context.layer > 0 || write.cache.key == nullptr) return StepProgram::insert(context);
    launch(context.shared.device, context.stream,
           RingSlots{slots_, write.slots, write.cache.slots, context.tokens});
    write_main(write, slots_, write.tokens);
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    slots_ = memory_->add<std::int64_t>("ring slots", capacity(shared));
  }
  std::int64_t* slots_ = nullptr;
};

}  // namespace

void add_first_sources(std::vector<UnseenFault>& faults) {
  faults.push_back({"dead-host-memory", "slot-lists-in-turn", "--kv-dtype fp8_e4m3",
                    unseen_program<SlotListsInTurn>()});
  faults.push_back({"dead-host-memory", "pinned-block-recycled", "--mode full --kv-dtype fp8_e5m2",
                    unseen_program<PinnedBlockRecycled>()});
  faults.push_back({"padding-write", "slots-from-positions", "--mode full",
                    unseen_program<SlotsFromPositions>()});
  faults.push_back({"padding-write", "unsigned-ring",
                    "--batch mixed --tokens 5 --bucket 8 --kv-dtype fp8_e4m3",
                    unseen_program<UnsignedRing>()});
}

}  // namespace graphsan::test
