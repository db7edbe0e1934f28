#pragma once

#include <cstdint>

// Two compilations of one function body: for AVX2 and for the baseline, chosen at run time.
//
// The body and all that it calls are GRAPHSAN_INLINE_BODY templates or functions; a wrapper marked
// GRAPHSAN_TARGET_AVX2 and a plain one call it. No fused multiply-add is enabled, and these files
// are built with -ffp-contract=off: both forms do the same operations in the same order, so the
// host device gives the same bits on every machine.
#if defined(__x86_64__) && defined(__GNUC__)
#define GRAPHSAN_TARGET_AVX2 __attribute__((target("avx2")))
#else
#define GRAPHSAN_TARGET_AVX2
#endif
#define GRAPHSAN_INLINE_BODY [[gnu::always_inline]] inline

namespace graphsan::step::minimax_m3 {

/// Whether this processor runs what GRAPHSAN_TARGET_AVX2 marks.
[[nodiscard]] inline bool has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool supported = __builtin_cpu_supports("avx2") != 0;
  return supported;
#else
  return false;
#endif
}

}  // namespace graphsan::step::minimax_m3
