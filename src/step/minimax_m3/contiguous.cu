#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

__global__ void contiguous(ContiguousArgs args) {
  const std::int64_t token = blockIdx.x;
  if (token >= args.tokens) return;
  const std::uint16_t* source = args.source + token * args.source_stride;
  std::uint16_t* destination = args.destination + token * args.width;
  for (std::int32_t i = threadIdx.x; i < args.width; i += blockDim.x) destination[i] = source[i];
}

const void* cuda_symbols::contiguous() {
  return reinterpret_cast<const void*>(&minimax_m3::contiguous);
}

}  // namespace graphsan::step::minimax_m3
