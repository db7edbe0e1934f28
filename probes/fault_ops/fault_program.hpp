#pragma once

#include <cstdint>

#include "step/minimax_m3/step_program.hpp"

namespace graphsan::faults {

/// A capture takes what the op launches; false in a warm-up and in an eager break.
[[nodiscard]] inline bool is_captured(const step::minimax_m3::OpContext& context) {
  return context.shared.device.capture_status(context.stream) != device::CaptureStatus::kNone;
}

/// The step that was refilled replays a graph.
[[nodiscard]] inline bool replays(const step::minimax_m3::RefillContext& context) {
  return context.arm == step::Arm::kGraph && &context.lanes == &context.shared.persistent;
}

/// Head counts of the op's layer.
[[nodiscard]] inline step::minimax_m3::HeadsArg heads_of(
    const step::minimax_m3::OpContext& context) {
  const step::minimax_m3::Config& config = context.shared.config;
  return step::minimax_m3::heads_for(
      config.tp, step::minimax_m3::is_sparse_layer(context.layer, config.layers));
}

/// Some consecutive heads of each lane's row of an activation.
struct HeadSlice {
  std::uint16_t* values = nullptr;  ///< lane 0, first of the heads
  std::int64_t stride = 0;          ///< elements between lanes
  std::int64_t width = 0;           ///< elements of a lane
};

/// K, V and index-K within the op's qkv, and the layer's output.
[[nodiscard]] HeadSlice key_slice(const step::minimax_m3::OpContext& context);
[[nodiscard]] HeadSlice value_slice(const step::minimax_m3::OpContext& context);
[[nodiscard]] HeadSlice index_key_slice(const step::minimax_m3::OpContext& context);
[[nodiscard]] HeadSlice output_slice(const step::minimax_m3::OpContext& context);

}  // namespace graphsan::faults
