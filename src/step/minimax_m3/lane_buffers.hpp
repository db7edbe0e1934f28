#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/named_buffers.hpp"

namespace graphsan::step::minimax_m3 {

/// Activations and results of one layer for up to `capacity` lanes.
struct LayerBuffers {
  std::uint16_t* base = nullptr;     ///< [capacity, row width]: drawn input
  std::uint16_t* qkv = nullptr;      ///< [capacity, row width]
  std::uint16_t* q = nullptr;        ///< [capacity, q × 128]
  std::uint16_t* index_q = nullptr;  ///< [capacity, index_q × 128]; null on dense layers
  std::uint16_t* out = nullptr;      ///< [capacity, q × 128]
  float* scores = nullptr;           ///< [index_q, capacity, blocks]; null on dense layers
  std::int32_t* top_k = nullptr;     ///< [index_q, capacity, k]; null on dense layers
};

/// The per-lane buffers of one way to run the step: exactly as many lanes as the batch has, or the
/// graph's persistent ones. They live as long as the step, at fixed addresses.
struct LaneBuffers {
  LaneBuffers(device::Device& device, const Config& config, const BatchPlan& plan, int capacity,
              const std::string& prefix);

  int capacity;
  std::vector<LayerBuffers> layers;
  std::int64_t* positions;      ///< [capacity]
  std::int64_t* slots;          ///< [capacity]: one tensor for main and index caches
  std::int32_t* lane_sequence;  ///< [capacity]
  std::int32_t* seq_lens;       ///< [capacity]; 0 for a pad lane
  std::int32_t* block_table;    ///< [sequences, table stride]
  float* attention_scratch;     ///< partial results of dense attention, one layer at a time
  NamedBuffers memory;
};

}  // namespace graphsan::step::minimax_m3
