#pragma once

#include <cstdint>
#include <vector>

#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/named_buffers.hpp"

namespace graphsan::step::minimax_m3 {

/// Norm weights and the rope table, on the device.
struct Weights {
  Weights(device::Device& device, device::StreamRef stream, const Config& config,
          const BatchPlan& plan);
  std::vector<const std::uint16_t*> norm;  ///< one [4, 128] a layer: q, k, index_q, index_k
  const std::uint16_t* cos_sin = nullptr;
  NamedBuffers memory;
};

}  // namespace graphsan::step::minimax_m3
