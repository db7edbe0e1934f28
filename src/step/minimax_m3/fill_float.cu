#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

__global__ void fill_float(FillFloatArgs args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.count; i += stride) {
    args.out[i] = args.value;
  }
}

const void* cuda_symbols::fill_float() {
  return reinterpret_cast<const void*>(&minimax_m3::fill_float);
}

}  // namespace graphsan::step::minimax_m3
