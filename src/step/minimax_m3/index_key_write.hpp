#pragma once

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Index-K scatter that skips negative slots.
[[nodiscard]] const device::Kernel& index_key_write_kernel();
/// `index_cache[slots] = x`: negative slots count from the end. Slots that are still outside the
/// cache are skipped (a framework would abort).
[[nodiscard]] const device::Kernel& index_put_kernel();
/// Launches the kernel that `args.negative` asks for. Nothing is launched for no tokens; a cache
/// that is unbound or has no rows is still launched and receives nothing.
void launch_index_key_write(device::Device& device, device::StreamRef stream,
                            const IndexKeyWriteArgs& args);

}  // namespace graphsan::step::minimax_m3
