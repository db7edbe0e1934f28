#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_requests.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

/// A workspace of its own size, so that of all blocks only requests' tensors of that size fit.
constexpr std::size_t kWorkspaceBytes = std::size_t{24} << 10;

/// A long-lived holder of memory from the framework's general pool.
class Workspace {
 public:
  [[nodiscard]] void* data() const { return memory_ == nullptr ? nullptr : memory_->data(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The new block is taken before the old one is given back, as in `t = empty(...)`.
  void replace(device::CachingAllocator& allocator, std::size_t bytes) {
    hold(allocator, std::make_unique<device::Temporary>(allocator, bytes), bytes);
  }
  /// The same, at the address that an earlier block had, if that is free.
  void replace_at(device::CachingAllocator& allocator, std::size_t bytes, const void* address) {
    std::vector<std::unique_ptr<device::Temporary>> tried;
    tried.push_back(std::make_unique<device::Temporary>(allocator, bytes));
    for (std::size_t left = free_blocks_of(allocator, bytes);
         left > 0 && address != nullptr && tried.back()->data() != address; --left) {
      tried.push_back(std::make_unique<device::Temporary>(allocator, bytes));
    }
    hold(allocator, std::move(tried.back()), bytes);
    tried.pop_back();
  }
  void release() {
    if (memory_ != nullptr) former_[address()] = bytes_;
    memory_.reset();
    bytes_ = 0;
  }
  /// Its block, and former blocks as long as they are nobody's.
  void describe(device::AddressMap& map) const {
    for (const auto& [begin, bytes] : former_) {
      const std::optional<device::Block> block = allocator_->find(begin);
      if (block && !block->live) add(map, begin, bytes, device::Owner::kFreeBlock);
    }
    if (memory_ != nullptr) add(map, address(), bytes_, device::Owner::kNamedBuffer);
  }

 private:
  void hold(device::CachingAllocator& allocator, std::unique_ptr<device::Temporary> memory,
            std::size_t bytes) {
    release();
    allocator_ = &allocator;
    memory_ = std::move(memory);
    bytes_ = bytes;
  }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(memory_->data());
  }
  static void add(device::AddressMap& map, std::uint64_t begin, std::size_t bytes,
                  device::Owner owner) {
    map.add({.begin = begin, .end = begin + bytes, .owner = owner, .name = "workspace"});
  }

  const device::CachingAllocator* allocator_ = nullptr;
  std::unique_ptr<device::Temporary> memory_;
  std::size_t bytes_ = 0;
  std::map<std::uint64_t, std::size_t> former_;  ///< bytes by address
};

/// A program with a workspace, and requests whose tensors take what is free.
class WorkspaceProgram : public StepProgram {
 public:
  WorkspaceProgram(std::shared_ptr<const InsertPath> path, Repaired repaired)
      : StepProgram{std::move(path)}, repaired_{repaired} {}

  void reset(const ProgramContext&, device::StreamRef) override { requests_.finish(); }
  /// No request is served while a capture is made.
  void before_capture(const ProgramContext&, device::StreamRef, int) override {
    requests_.finish();
  }
  void describe(device::AddressMap& map) const override { workspace_.describe(map); }

 protected:
  [[nodiscard]] bool repaired() const { return repaired_ == Repaired::kYes; }
  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] Requests& requests() { return requests_; }

 private:
  Repaired repaired_;
  Workspace workspace_;
  Requests requests_;
};

/// K and V scaled by ones that lie at the start of the workspace, one a head.
class ScaledByWorkspace : public WorkspaceProgram {
 public:
  ScaledByWorkspace(const Config& config, Repaired repaired)
      : WorkspaceProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    ensure(context.shared, context.stream, context.tokens);
    const auto* scales = static_cast<const float*>(workspace().data());
    const std::uint16_t* key = made.qkv + static_cast<std::ptrdiff_t>(made.heads.q) * kHeadDim;
    launch_reshape_and_cache(made.device, made.stream,
                             {.key = key,
                              .value = key + static_cast<std::ptrdiff_t>(made.heads.kv) * kHeadDim,
                              .key_stride = made.row_width,
                              .value_stride = made.row_width,
                              .slots = made.slots,
                              .k_scale = scales,
                              .v_scale = scales,
                              .cache = made.cache,
                              .tokens = made.tokens,
                              .scale_count = made.heads.kv});
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }

 protected:
  /// Makes the workspace fit a batch of `tokens` lanes.
  virtual void ensure(const ProgramContext& shared, device::StreamRef stream, int tokens) = 0;

  void replace(const ProgramContext& shared, device::StreamRef stream, std::size_t bytes) {
    workspace().replace(shared.allocator, bytes);
    launch_fill_float(shared.device, stream,
                      {static_cast<float*>(workspace().data()),
                       static_cast<std::int32_t>(bytes / sizeof(float)), 1.0F});
  }
};

/// Fitted to the batch at hand, so each bucket's capture replaces it. Repaired, it fits the largest
/// bucket from the start.
class FittedToBucket final : public ScaledByWorkspace {
 public:
  using ScaledByWorkspace::ScaledByWorkspace;

  void before_capture(const ProgramContext& shared, device::StreamRef stream, int bucket) override {
    ScaledByWorkspace::before_capture(shared, stream, bucket);
    ensure(shared, stream, bucket);
  }
  void refill(const RefillContext& context) override {
    requests().serve(context, bytes_for(context.shared, largest(context.shared)), 2.0F);
  }

 protected:
  void ensure(const ProgramContext& shared, device::StreamRef stream, int tokens) override {
    const std::size_t wanted = bytes_for(shared, repaired() ? largest(shared) : tokens);
    if (workspace().bytes() != wanted) replace(shared, stream, wanted);
  }

 private:
  [[nodiscard]] static int largest(const ProgramContext& shared) {
    return shared.persistent.capacity;
  }
  [[nodiscard]] static std::size_t bytes_for(const ProgramContext&, int lanes) {
    return kWorkspaceBytes * static_cast<std::size_t>(lanes);
  }
};

/// Given back when the captures are done, to save memory, and made anew at the next use. Repaired,
/// it is kept.
class ReleasedAfterCapture final : public ScaledByWorkspace {
 public:
  using ScaledByWorkspace::ScaledByWorkspace;

  void before_capture(const ProgramContext& shared, device::StreamRef stream, int bucket) override {
    ScaledByWorkspace::before_capture(shared, stream, bucket);
    ensure(shared, stream, 0);
  }
  void after_capture(const ProgramContext&, device::StreamRef, int) override {
    if (!repaired()) workspace().release();
  }
  void refill(const RefillContext& context) override {
    requests().serve(context, kWorkspaceBytes, 2.0F);
    ensure(context.shared, context.stream, 0);
  }

 protected:
  void ensure(const ProgramContext& shared, device::StreamRef stream, int) override {
    if (workspace().data() == nullptr) replace(shared, stream, kWorkspaceBytes);
  }
};

/// The last layer's block table lies in a workspace that grows at the third step. Repaired, it is
/// as large as it will ever be from the start.
class GrownWhileServing final : public WorkspaceProgram {
 public:
  GrownWhileServing(const Config& config, Repaired repaired)
      : WorkspaceProgram{make_insert_path(config), repaired} {}

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    WorkspaceProgram::reset(shared, stream);
    const std::size_t first = repaired() ? grown_bytes(shared) : first_bytes(shared);
    if (workspace().bytes() != first || workspace().data() != first_) {
      workspace().replace_at(shared.allocator, first, first_);
    }
    if (first_ == nullptr) first_ = workspace().data();
    fill(shared, stream);
  }

  void refill(const RefillContext& context) override {
    const ProgramContext& shared = context.shared;
    if (context.step < kGrowsAt) return;
    if (workspace().bytes() < grown_bytes(shared)) {
      workspace().replace(shared.allocator, grown_bytes(shared));
      fill(shared, context.stream);
    }
    requests().serve(context, first_bytes(shared), 0.0F);
  }

  void attention(const OpContext& context) override {
    const ProgramContext& shared = context.shared;
    const bool last = context.layer == shared.config.layers - 1;
    if (!last || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    AttentionArgs args = attention_args(
        context.lanes, shared.config, shared.plan, *context.pool, context.layer, context.tokens,
        context.lanes.layers[static_cast<std::size_t>(context.layer)].out);
    args.context.block_table = static_cast<const std::int32_t*>(workspace().data());
    launch_attention(shared.device, context.stream, args);
  }

 private:
  static constexpr int kGrowsAt = 2;

  [[nodiscard]] static std::size_t first_bytes(const ProgramContext& shared) {
    return kWorkspaceBytes + shared.plan.block_table().size() * sizeof(std::int32_t);
  }
  [[nodiscard]] static std::size_t grown_bytes(const ProgramContext& shared) {
    return 2 * first_bytes(shared);
  }
  void fill(const ProgramContext& shared, device::StreamRef stream) {
    const std::vector<std::int32_t>& table = shared.plan.block_table();
    shared.device.copy(stream, workspace().data(), table.data(),
                       table.size() * sizeof(std::int32_t));
  }

  const void* first_ = nullptr;  ///< where a fresh process has it
};

}  // namespace

void add_replaced_workspace_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<FittedToBucket>(
      {.id = "replaced-workspace",
       .variant = "bucket",
       .description = "capturing the next bucket replaces the workspace with the scales",
       .options = "--kv-dtype fp8_e5m2 --write-path two-step --batch prompt"}));
  faults.push_back(planted<GrownWhileServing>(
      {.id = "replaced-workspace",
       .variant = "grown",
       .description = "the workspace with the block table grows at the third step",
       .options = "--kv-dtype bf16 --mode full"}));
  faults.push_back(planted<ReleasedAfterCapture>(
      {.id = "replaced-workspace",
       .variant = "released",
       .description = "the workspace with the scales is given back after capture and made anew",
       .options = "--kv-dtype fp8_e4m3 --write-path two-step --layout hnd --tp 2"}));
}

}  // namespace graphsan::faults
