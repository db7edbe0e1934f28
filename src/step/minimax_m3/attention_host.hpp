#pragma once

#include "device/kernel.hpp"

namespace graphsan::step::minimax_m3 {

/// Host form of sparse and of dense attention; `arguments` is an AttentionArgs.
void attention_host(const device::LaunchDims& dims, const void* arguments);

}  // namespace graphsan::step::minimax_m3
