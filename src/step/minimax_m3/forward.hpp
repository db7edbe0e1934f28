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
#include "step/minimax_m3/insert_path.hpp"
#include "step/minimax_m3/lane_buffers.hpp"
#include "step/minimax_m3/named_buffers.hpp"
#include "step/minimax_m3/pool.hpp"
#include "step/segmented_capture.hpp"

namespace graphsan::step::minimax_m3 {

/// Norm weights and the rope table, on the device.
struct Weights {
  Weights(device::Device& device, device::StreamRef stream, const Config& config,
          const BatchPlan& plan);
  std::vector<const std::uint16_t*> norm;  ///< one [4, 128] a layer: q, k, index_q, index_k
  const std::uint16_t* cos_sin = nullptr;
  NamedBuffers memory;
};

/// One pass through the layers, as host code that launches ops.
///
/// Host-side state (the metadata, the batch size) is read when an op is issued: eagerly, at
/// capture, or at replay for an op that is a break. That is how a graph can differ from eager.
class Forward {
 public:
  Forward(device::Device& device, const Config& config, const BatchPlan& plan,
          const Weights& weights, device::CachingAllocator& allocator,
          std::shared_ptr<const InsertPath> insert_path);

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
  void norm_rope(const Pass& pass, device::StreamRef stream, int layer) const;
  void insert(const Pass& pass, device::StreamRef stream, int layer) const;
  void indexer(const Pass& pass, device::StreamRef stream, int layer) const;
  void attention(const Pass& pass, device::StreamRef stream, int layer) const;

  device::Device* device_;
  Config config_;
  const BatchPlan* plan_;
  const Weights* weights_;
  device::CachingAllocator* allocator_;
  std::shared_ptr<const InsertPath> insert_path_;
  const Metadata* metadata_ = nullptr;
};

/// Context of the lanes of `lanes` as the indexer and attention take it.
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
