#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/lane_buffers.hpp"
#include "step/minimax_m3/named_buffers.hpp"
#include "step/minimax_m3/pool.hpp"
#include "step/step.hpp"

namespace graphsan::step::minimax_m3 {

/// Recomputes selection, attention and writes with the reference ops, outside any graph, into
/// scratch of its own.
class Reference final : public Oracle {
 public:
  Reference(device::Device& device, const Config& config, const BatchPlan& plan, const Pool& pool,
            const LaneBuffers& exact, const LaneBuffers& persistent, Conversion conversion);

  [[nodiscard]] std::vector<int> sparse_layers() const override;
  [[nodiscard]] ReferenceSelection select(int step, Arm arm, int layer,
                                          device::StreamRef stream) override;
  [[nodiscard]] std::vector<std::vector<std::byte>> attend(int step, Arm arm, int layer,
                                                           device::StreamRef stream) override;
  [[nodiscard]] std::vector<std::vector<std::byte>> lane_rows(int step, Arm arm, int cache,
                                                              device::StreamRef stream) override;

 private:
  [[nodiscard]] const LaneBuffers& lanes_for(int step, Arm arm) const;
  [[nodiscard]] std::vector<std::vector<std::byte>> download_rows(device::StreamRef stream,
                                                                  const void* from, int rows,
                                                                  std::size_t row_bytes) const;

  device::Device* device_;
  Config config_;
  const BatchPlan* plan_;
  const Pool* pool_;
  const LaneBuffers* exact_;
  const LaneBuffers* persistent_;
  Conversion conversion_;
  NamedBuffers memory_;
  float* scores_;
  std::int32_t* top_k_;
  std::uint16_t* out_;
  std::byte* rows_;           ///< scratch cache of one page a lane block, K then V
  std::int64_t* lane_slots_;  ///< 0, 1, 2 ...
};

}  // namespace graphsan::step::minimax_m3
