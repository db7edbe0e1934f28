#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// out[0 .. count) = value.
[[nodiscard]] const device::Kernel& fill_float_kernel();
/// Nothing is launched for an empty buffer.
void launch_fill_float(device::Device& device, device::StreamRef stream, const FillFloatArgs& args);

}  // namespace graphsan::step::minimax_m3
