#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

// One launch function an op: picks the kernel form for the argument's dtype and the grid, and
// launches it on the device in its CUDA or host form. All asynchronous; nothing is allocated.
namespace graphsan::step::minimax_m3 {

void launch_norm_rope(device::Device&, device::StreamRef, const NormRopeArgs&);
void launch_reshape_and_cache(device::Device&, device::StreamRef, const ReshapeAndCacheArgs&);
void launch_index_key_write(device::Device&, device::StreamRef, const IndexKeyWriteArgs&);
void launch_indexer_score(device::Device&, device::StreamRef, const IndexerScoreArgs&);
void launch_indexer_top_k(device::Device&, device::StreamRef, const IndexerTopKArgs&);
void launch_attention(device::Device&, device::StreamRef, const AttentionArgs&);
void launch_mix(device::Device&, device::StreamRef, const MixArgs&);
void launch_draw(device::Device&, device::StreamRef, const DrawArgs&);
void launch_contiguous(device::Device&, device::StreamRef, const ContiguousArgs&);
void launch_fill_float(device::Device&, device::StreamRef, const FillFloatArgs&);

}  // namespace graphsan::step::minimax_m3
