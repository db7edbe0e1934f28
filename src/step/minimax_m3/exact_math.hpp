#pragma once

#include "step/minimax_m3/host_device.hpp"

namespace graphsan::step::minimax_m3 {

/// a × b, rounded once and never fused into an addition, so that both devices give the same bits.
/// (The host files are built with -ffp-contract=off.)
GRAPHSAN_HOST_DEVICE inline float multiply(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// a + b, never fused with a product.
GRAPHSAN_HOST_DEVICE inline float add(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

}  // namespace graphsan::step::minimax_m3
