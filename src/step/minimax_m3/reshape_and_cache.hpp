#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Scatters K and V of each token to its slot: stored = convert(x / scale) for fp8, a copy for
/// bf16. Slots that are negative or beyond the cache are skipped. Two tokens with one slot: the
/// last writer is undefined on a CUDA device, the later token on the host.
[[nodiscard]] const device::Kernel& reshape_and_cache_kernel();
/// Nothing is launched for no tokens; a cache that is unbound or has no rows is still launched and
/// receives nothing.
void launch_reshape_and_cache(device::Device& device, device::StreamRef stream,
                              const ReshapeAndCacheArgs& args);

}  // namespace graphsan::step::minimax_m3
