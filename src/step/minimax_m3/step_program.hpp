#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/address_map.hpp"
#include "device/caching_allocator.hpp"
#include "device/device.hpp"
#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/insert_path.hpp"
#include "step/minimax_m3/lane_buffers.hpp"
#include "step/minimax_m3/pool.hpp"
#include "step/minimax_m3/weights.hpp"
#include "step/step.hpp"

namespace graphsan::step::minimax_m3 {

/// What a program may use for the life of the step. Everything is borrowed from the step.
struct ProgramContext {
  device::Device& device;
  device::CachingAllocator& allocator;
  const Config& config;
  const BatchPlan& plan;
  const Pool& pool;
  const LaneBuffers& exact;       ///< buffers of Arm::kEager
  const LaneBuffers& persistent;  ///< buffers of the padded arms and of the captured graphs
};

/// What the host code of one op finds when it runs: eagerly, in a warm-up, at capture, or at each
/// replay where the op is a break.
struct OpContext {
  const ProgramContext& shared;
  device::StreamRef stream;
  const Weights& weights;
  const LaneBuffers& lanes;
  const Pool* pool;          ///< null: caches not bound
  const Metadata* metadata;  ///< null where there is none
  int layer;
  int tokens;  ///< lanes to launch, pads included
};

/// One refill of the inputs.
struct RefillContext {
  const ProgramContext& shared;
  device::StreamRef stream;
  int step;
  Arm arm;
  const LaneBuffers& lanes;  ///< already refilled
  const Metadata& metadata;  ///< live
};

/// The host code of the step: what a framework's Python does around the kernels. The base class is
/// the sound program; a planted fault overrides what it spoils. One object belongs to one step and
/// may keep state.
class StepProgram {
 public:
  explicit StepProgram(std::shared_ptr<const InsertPath> insert_path);
  virtual ~StepProgram() = default;
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  /// Called once, when the step's memory is there. Memory that the program wants at fixed addresses
  /// is allocated here. The context lives as long as the program.
  virtual void bind(const ProgramContext&, device::StreamRef) {}
  /// Back to what a fresh process has, except for memory and captured graphs.
  virtual void reset(const ProgramContext&, device::StreamRef) {}
  /// After the history was written; may add to it.
  virtual void history_written(const ProgramContext&, device::StreamRef) {}
  /// After the inputs of a step were refilled, before it runs; may synchronize.
  virtual void refill(const RefillContext&) {}
  /// Around the capture of one bucket, warm-up included.
  virtual void before_capture(const ProgramContext&, device::StreamRef, int /*bucket*/) {}
  virtual void after_capture(const ProgramContext&, device::StreamRef, int /*bucket*/) {}

  /// The fused op writes the caches itself and insert() is not called.
  [[nodiscard]] bool writes_in_norm_rope() const { return insert_path_->writes_in_norm_rope(); }
  virtual void norm_rope(const OpContext& context);
  virtual void insert(const OpContext& context);
  virtual void indexer(const OpContext& context);
  virtual void attention(const OpContext& context);

  /// Which of several graphs of one bucket and preset a step needs; graphs are captured for every
  /// kind in use, each with a dummy batch of dummy_context(kind) tokens.
  [[nodiscard]] virtual int graph_kind(int /*step*/) const { return 0; }
  /// Which of them is replayed for it.
  [[nodiscard]] virtual int dispatched_kind(int step) const { return graph_kind(step); }
  [[nodiscard]] virtual std::int64_t dummy_context(int /*kind*/) const { return 1; }

  /// Eager should give what the reference ops give; false for a step that scales, rounds or reduces
  /// in a way of its own.
  [[nodiscard]] virtual bool follows_reference() const { return true; }

  /// Inputs beside the step's own, refilled by refill().
  [[nodiscard]] virtual std::vector<InputView> inputs(int /*step*/, Arm) const { return {}; }
  [[nodiscard]] virtual std::vector<OpaqueView> opaque() const { return {}; }
  virtual void describe(device::AddressMap&) const {}

 protected:
  [[nodiscard]] const InsertPath& insert_path() const { return *insert_path_; }
  [[nodiscard]] static InsertContext insert_context(const OpContext& context);

 private:
  std::shared_ptr<const InsertPath> insert_path_;
};

/// Makes the program of a step; each step object has its own.
using ProgramFactory = std::function<std::unique_ptr<StepProgram>(const Config& config)>;

/// The sound program with the configuration's write path.
[[nodiscard]] ProgramFactory sound_program();
/// The sound program around a given write path.
[[nodiscard]] ProgramFactory program_with(std::shared_ptr<const InsertPath> insert_path);

/// Arguments of the built-in ops, for programs that launch them with something changed.
[[nodiscard]] MixArgs mix_args(const OpContext& context);
[[nodiscard]] NormRopeArgs norm_rope_args(const OpContext& context, bool inserts);
/// Context of `lanes` as the indexer and attention take it.
[[nodiscard]] ContextArg context_of(const LaneBuffers& lanes, const Config& config,
                                    const BatchPlan& plan);
[[nodiscard]] IndexerScoreArgs score_args(const LaneBuffers& lanes, const Config& config,
                                          const BatchPlan& plan, const Pool& pool, int layer,
                                          int tokens, float* scores);
[[nodiscard]] IndexerTopKArgs top_k_args(const LaneBuffers& lanes, const Config& config,
                                         const BatchPlan& plan, int tokens, const float* scores,
                                         std::int32_t* top_k);
[[nodiscard]] AttentionArgs attention_args(const LaneBuffers& lanes, const Config& config,
                                           const BatchPlan& plan, const Pool& pool, int layer,
                                           int tokens, std::uint16_t* out);

}  // namespace graphsan::step::minimax_m3
