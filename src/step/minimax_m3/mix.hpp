#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/exact_math.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// One element of MixArgs; the product and the sum are rounded apart on both devices.
GRAPHSAN_HOST_DEVICE inline std::uint16_t mixed(std::uint16_t base, std::uint16_t out,
                                                float weight) {
  return float_to_bf16(add(bf16_to_float(base), multiply(weight, bf16_to_float(out))));
}

/// See MixArgs; `qkv` may be `base`.
[[nodiscard]] const device::Kernel& mix_kernel();
/// Nothing is launched for no tokens.
void launch_mix(device::Device& device, device::StreamRef stream, const MixArgs& args);

}  // namespace graphsan::step::minimax_m3
