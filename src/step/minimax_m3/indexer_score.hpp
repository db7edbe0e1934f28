#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// See IndexerScoreArgs.
[[nodiscard]] const device::Kernel& indexer_score_kernel();
/// Nothing is launched for no tokens or no blocks. Throws std::invalid_argument for more than 64
/// heads.
void launch_indexer_score(device::Device& device, device::StreamRef stream,
                          const IndexerScoreArgs& args);

}  // namespace graphsan::step::minimax_m3
