#include <algorithm>
#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/uninitialized-read/fault_ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::heads_for;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

/// An op of the last layer reads a workspace that nothing fills. The eager one is a block of the
/// allocator that was fresh, and so zero, when the process began. The graph's comes from a graph
/// pool, in which an autotuner ran its trials before the capture, and goes back to that pool when
/// the capture has ended. Repaired: the op clears the workspace before it reads it.
class UnfilledWorkspace : public StepProgram {
 public:
  UnfilledWorkspace(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)}, repaired_{repaired}, layer_{config.layers - 1} {}

  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    const int lanes = std::max(shared.exact.capacity, shared.persistent.capacity);
    bytes_ = static_cast<std::size_t>(lanes) *
             static_cast<std::size_t>(heads_for(shared.config.tp, true).q) *
             step::minimax_m3::kHeadDim * sizeof(float);
    pool_ = shared.allocator.create_pool();
    eager_.emplace(shared.allocator, bytes_);
    shared.device.fill(stream, eager_->data(), 0, bytes_);
  }
  void before_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    shared.allocator.begin_pool(pool_);
    captured_.emplace(shared.allocator, bytes_);
    shared.allocator.end_pool();
    launch(shared.device, stream,
           LeaveTrialResults{static_cast<std::int64_t>(bytes_ / sizeof(float)),
                             captured_->as<float>()});
  }
  void after_capture(const ProgramContext&, device::StreamRef, int) override { captured_.reset(); }

 protected:
  [[nodiscard]] bool concerns(const OpContext& context) const {
    return context.layer == layer_ && context.pool != nullptr;
  }
  /// The workspace of this run, with `bytes` of it cleared in the clean twin.
  template <typename T>
  [[nodiscard]] T* workspace(const OpContext& context, std::int64_t bytes) const {
    void* memory = is_captured(context) ? captured_->data() : eager_->data();
    if (repaired_ == Repaired::kYes) {
      context.shared.device.fill(context.stream, memory, 0, static_cast<std::size_t>(bytes));
    }
    return static_cast<T*>(memory);
  }

 private:
  Repaired repaired_;
  int layer_;
  std::size_t bytes_ = 0;  ///< one float for each element of the output
  device::PoolId pool_;
  std::optional<device::Temporary> eager_;
  std::optional<device::Temporary> captured_;
};

/// A correction of K, one number a lane.
class UnfilledCorrection final : public UnfilledWorkspace {
 public:
  using UnfilledWorkspace::UnfilledWorkspace;

  void insert(const OpContext& context) override {
    if (concerns(context)) {
      const HeadSlice key = key_slice(context);
      launch(context.shared.device, context.stream,
             CorrectValues{context.tokens * key.width, key.values, key.stride, key.width,
                           workspace<const float>(context, context.tokens * 4)});
    }
    StepProgram::insert(context);
  }
};

/// Flags of blocks that the selection should leave out.
class UnfilledFlags final : public UnfilledWorkspace {
 public:
  using UnfilledWorkspace::UnfilledWorkspace;

  void indexer(const OpContext& context) override {
    StepProgram::indexer(context);
    if (!concerns(context) || context.metadata == nullptr) return;
    const std::int64_t ids = static_cast<std::int64_t>(heads_of(context).index_q) *
                             context.lanes.capacity * context.shared.config.top_k;
    launch(context.shared.device, context.stream,
           DropFlagged{ids, context.lanes.layers[static_cast<std::size_t>(context.layer)].top_k,
                       workspace<const std::uint8_t>(context, ids)});
  }
};

/// The other half of a split attention, which added nothing.
class UnfilledPartial final : public UnfilledWorkspace {
 public:
  using UnfilledWorkspace::UnfilledWorkspace;

  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    if (!concerns(context) || context.metadata == nullptr) return;
    const HeadSlice out = output_slice(context);
    const std::int64_t count = context.tokens * out.width;
    launch(context.shared.device, context.stream,
           AddPartial{count, out.values, workspace<const float>(context, count * 4)});
  }
};

}  // namespace

void add_uninitialized_read_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<UnfilledCorrection>(
      {"uninitialized-read", "correction",
       "K of the last layer is corrected by numbers that nothing ever wrote",
       "--write-path two-step"}));
  faults.push_back(planted<UnfilledFlags>(
      {"uninitialized-read", "flags",
       "blocks are dropped from the last layer's top-k by flags that nothing ever wrote",
       "--mode full --layers 3"}));
  faults.push_back(planted<UnfilledPartial>(
      {"uninitialized-read", "partial",
       "a partial result that nothing ever wrote is added to the last layer's output",
       "--kv-dtype fp8_e5m2 --write-path two-step --mode full --batch mixed --tokens 6 --bucket "
       "8"}));
}

}  // namespace graphsan::faults
