#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"

namespace graphsan::faults {

using device::Temporary;
using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;
using step::minimax_m3::StepProgram;

namespace {

device::OwnedRange host_range(const void* begin, std::size_t bytes, device::Owner owner,
                              std::string name) {
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  return {.begin = address, .end = address + bytes, .owner = owner, .name = std::move(name)};
}

/// What host code does with memory that it was given: here some figure about the batch.
float load_figure(const RefillContext& context) {
  return 3.0F + static_cast<float>(context.metadata.max_context) / 1024.0F;
}

/// The scale of K is copied from a local of insert(). When insert() returns, the heap gives that
/// memory to the next host code that asks, which is the scheduler's.
class ScaleFromLocal final : public StepProgram {
 public:
  ScaleFromLocal(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void describe(device::AddressMap& map) const override {
    map.add(host_range(&heap_, sizeof(heap_), device::Owner::kHostPageable, "host heap"));
    map.add(host_range(&kept_, sizeof(kept_), device::Owner::kHostPageable, "kept key scale"));
  }
  void refill(const RefillContext& context) override { heap_ = load_figure(context); }

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    float& local = repaired_ == Repaired::kYes ? kept_ : heap_;
    local = 1.0F;
    const Temporary scale{write.allocator, sizeof(float)};
    write.device.copy(write.stream, scale.data(), &local, sizeof(float));
    write_main_from(write, write.slots, {.k_scale = scale.as<float>()});
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  Repaired repaired_;
  float heap_ = 0.0F;  ///< the block of the heap that a local and the scheduler get in turn
  float kept_ = 1.0F;
};

/// The scale of V goes through a ring of pinned words, of which each copy takes the next: by the
/// time that a word comes round again its copy has executed, but a graph's copy executes at every
/// replay.
class ScaleThroughRing final : public StepProgram {
 public:
  ScaleThroughRing(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    const auto layers = static_cast<std::size_t>(shared.config.layers);
    const std::size_t words = 2 * layers;
    ring_ = device::Buffer{shared.device, words * sizeof(float), device::MemoryKind::kPinnedHost};
    kept_ = device::Buffer{shared.device, layers * sizeof(float), device::MemoryKind::kPinnedHost};
    std::fill_n(ring_.as<float>(), words, 1.0F);
    std::fill_n(kept_.as<float>(), layers, 1.0F);
    words_ = words;
  }
  void describe(device::AddressMap& map) const override {
    map.add(host_range(ring_.data(), ring_.bytes(), device::Owner::kHostPinned, "staging ring"));
    map.add(host_range(kept_.data(), kept_.bytes(), device::Owner::kHostPinned, "kept scales"));
  }
  void reset(const ProgramContext&, device::StreamRef) override { next_ = 0; }
  /// The scheduler stages as many figures as the ring has words; all copies before have executed.
  void refill(const RefillContext& context) override {
    for (std::size_t i = 0; i < words_; ++i) *take() = load_figure(context);
  }

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    float* staged = repaired_ == Repaired::kYes ? kept_.as<float>() + write.layer : take();
    *staged = 1.0F;
    const Temporary scale{write.allocator, sizeof(float)};
    write.device.copy(write.stream, scale.data(), staged, sizeof(float));
    write_main_from(write, write.slots, {.v_scale = scale.as<float>()});
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
  }

 private:
  float* take() { return ring_.as<float>() + next_++ % words_; }

  Repaired repaired_;
  device::Buffer ring_;
  device::Buffer kept_;
  std::size_t words_ = 0;
  std::size_t next_ = 0;
};

/// The slots of index-K are copied from a host list made within insert(). The heap gives the list's
/// memory to the scheduler, which works out there where the tokens after these will go.
class SlotsFromLocal final : public StepProgram {
 public:
  SlotsFromLocal(const Config& config, Repaired repaired)
      : StepProgram{separate_writes(config)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    const auto lanes = static_cast<std::size_t>(shared.persistent.capacity);
    heap_.assign(lanes, -1);
    kept_.assign(lanes, -1);
  }
  void describe(device::AddressMap& map) const override {
    const std::size_t bytes = heap_.size() * sizeof(std::int64_t);
    map.add(host_range(heap_.data(), bytes, device::Owner::kHostPageable, "host heap"));
    map.add(host_range(kept_.data(), bytes, device::Owner::kHostPageable, "kept slot list"));
  }
  void refill(const RefillContext& context) override {
    list_slots(context.metadata.lanes, kept_);
    const step::minimax_m3::BatchPlan& plan = context.shared.plan;
    const std::int64_t room =
        static_cast<std::int64_t>(plan.table_stride()) * context.shared.config.page_size;
    std::fill(heap_.begin(), heap_.end(), -1);
    for (std::size_t lane = 0; lane < context.metadata.lanes.size(); ++lane) {
      const model::Lane& token = context.metadata.lanes[lane];
      if (!token.real || token.position + context.metadata.tokens >= room) continue;
      heap_[lane] = plan.slot(token.sequence, token.position + context.metadata.tokens);
    }
  }

  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.heads.index_k == 0) return StepProgram::insert(context);
    std::vector<std::int64_t>& local = repaired_ == Repaired::kYes ? kept_ : heap_;
    list_slots(write.metadata == nullptr ? std::span<const model::Lane>{} : write.metadata->lanes,
               local);
    const std::size_t bytes = static_cast<std::size_t>(write.tokens) * sizeof(std::int64_t);
    const Temporary slots{write.allocator, bytes};
    write.device.copy(write.stream, slots.data(), local.data(), bytes);
    write_main(write, write.slots, write.tokens);
    write_index(write, slots.as<std::int64_t>(), write.tokens, NegativeSlot::kSkip);
  }

 private:
  static void list_slots(std::span<const model::Lane> lanes, std::vector<std::int64_t>& slots) {
    std::fill(slots.begin(), slots.end(), -1);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) slots[lane] = lanes[lane].index_slot;
  }

  Repaired repaired_;
  std::vector<std::int64_t> heap_;
  std::vector<std::int64_t> kept_;
};

}  // namespace

void add_dead_host_memory_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<ScaleFromLocal>(
      "dead-host-memory", "local-scale",
      "the scale of K is copied from a local; at replay its memory holds a figure of the scheduler",
      "--kv-dtype fp8_e5m2 --write-path two-step"));
  faults.push_back(fault_and_twin<ScaleThroughRing>(
      "dead-host-memory", "recycled-pinned",
      "the scale of V is copied from a word of a pinned ring, which has come round by the replay",
      "--kv-dtype fp8_e4m3 --write-path two-step --mode full --layers 3 --layout hnd"));
  faults.push_back(fault_and_twin<SlotsFromLocal>(
      "dead-host-memory", "local-slots",
      "the slots of index-K are copied from a list that dies with the call; its memory then holds "
      "the slots of tokens to come",
      "--write-path two-step --mode full"));
}

}  // namespace graphsan::faults
