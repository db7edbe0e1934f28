#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/caching_allocator.hpp"
#include "device/device.hpp"
#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/lane_buffers.hpp"
#include "step/minimax_m3/step_program.hpp"
#include "step/minimax_m3/weights.hpp"
#include "step/segmented_capture.hpp"

namespace graphsan::step::minimax_m3 {

/// One pass through the layers, as host code that launches ops.
///
/// Host-side state (the metadata, the batch size) is read when an op is issued: eagerly, at
/// capture, or at replay for an op that is a break. That is how a graph can differ from eager.
class Forward {
 public:
  /// All are borrowed.
  Forward(const ProgramContext& shared, const Weights& weights, StepProgram& program);

  /// The metadata that ops find from now on; null: none.
  void set_metadata(const Metadata* metadata) { metadata_ = metadata; }

  /// Launches all layers for `tokens` lanes. `pool` null: caches not bound.
  void run(device::StreamRef stream, const LaneBuffers& lanes, int tokens, const Pool* pool);
  /// The same under a capture that has begun; ops of `breaks` end the segment.
  void capture(SegmentedCapture& capture, device::StreamRef stream, const LaneBuffers& lanes,
               int tokens, const Pool* pool, const BreakSet& breaks, device::PoolId graph_pool);

 private:
  struct Pass;
  void layer(const Pass& pass, int layer);
  void issue(const Pass& pass, const char* op, int layer, bool is_break,
             const std::function<void(device::StreamRef)>& launch);
  [[nodiscard]] OpContext context(const Pass& pass, device::StreamRef stream, int layer) const;

  const ProgramContext* shared_;
  const Weights* weights_;
  StepProgram* program_;
  const Metadata* metadata_ = nullptr;
};

}  // namespace graphsan::step::minimax_m3
