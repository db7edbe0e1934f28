#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Gemma RMSNorm per head, then rope on dims 0..63 in NeoX pairs, all in fp32 with one rounding to
/// bf16. k and index_k are rewritten in the fused row; q and index_q go to their own buffers and
/// stay as they are in the row; v is not touched.
///
/// The sum of squares has a fixed order, the same on both devices, and every operation is rounded
/// apart: host and CUDA give equal bits.
[[nodiscard]] const device::Kernel& norm_rope_kernel();
/// The same, and K, V and index-K are scattered to `slots` and `index_slots` (negative or beyond
/// the cache: skipped). fp8 K is converted from the fp32 value, so it is rounded once; V from bf16.
[[nodiscard]] const device::Kernel& fused_norm_rope_insert_kernel();
/// Launches norm_rope when `args.slots` is null, else the fused kernel. Nothing is launched for no
/// tokens; caches that are unbound or have no rows receive nothing.
void launch_norm_rope(device::Device& device, device::StreamRef stream, const NormRopeArgs& args);

}  // namespace graphsan::step::minimax_m3
