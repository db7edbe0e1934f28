#pragma once

#include <cstddef>
#include <cstdint>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/fp8_native.cuh"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Stores element `d` of a cache run that starts at `run`; bf16 rounds and ignores the scale.
__device__ inline void store_element(const KvCacheArg& cache, std::byte* run, int d, float value,
                                     float scale) {
  if (cache.dtype == model::DType::kBf16) {
    reinterpret_cast<std::uint16_t*>(run)[d] = float_to_bf16(value);
  } else {
    run[d] = static_cast<std::byte>(quantize(value, scale, cache.dtype, cache.conversion));
  }
}

/// The same for a value that is bf16 already, whose bits a bf16 cache copies.
__device__ inline void store_bf16_element(const KvCacheArg& cache, std::byte* run, int d,
                                          std::uint16_t bits, float scale) {
  if (cache.dtype == model::DType::kBf16) {
    reinterpret_cast<std::uint16_t*>(run)[d] = bits;
  } else {
    store_element(cache, run, d, bf16_to_float(bits), scale);
  }
}

}  // namespace graphsan::step::minimax_m3
