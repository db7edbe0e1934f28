#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// destination[t, i] = source[t × source_stride + i] for i < width; the buffers must not overlap.
[[nodiscard]] const device::Kernel& contiguous_kernel();
/// Nothing is launched for no tokens.
void launch_contiguous(device::Device& device, device::StreamRef stream,
                       const ContiguousArgs& args);

}  // namespace graphsan::step::minimax_m3
