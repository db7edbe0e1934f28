#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/mix.hpp"

namespace graphsan::step::minimax_m3 {

__global__ void mix(MixArgs args) {
  const std::int64_t token = blockIdx.x;
  if (token >= args.tokens) return;
  const std::uint16_t* base = args.base + token * args.row_width;
  std::uint16_t* qkv = args.qkv + token * args.row_width;
  for (std::int64_t j = threadIdx.x; j < args.row_width; j += blockDim.x) {
    if (args.out == nullptr) {
      qkv[j] = base[j];
      continue;
    }
    const std::uint16_t* out = args.out + token * args.out_width;
    qkv[j] = mixed(base[j], out[(j * 7 + 3) % args.out_width], args.weight);
  }
}

const void* cuda_symbols::mix() { return reinterpret_cast<const void*>(&minimax_m3::mix); }

}  // namespace graphsan::step::minimax_m3
