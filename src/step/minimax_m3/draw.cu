#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/draw.hpp"

namespace graphsan::step::minimax_m3 {

__global__ void draw_normal(DrawArgs args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.count; i += stride) {
    const auto index = static_cast<std::uint64_t>(args.first + i);
    const DrawKeys keys = draw_keys(args.seed, static_cast<std::uint32_t>(index >> 32));
    args.out[i] = draw_element(keys, static_cast<std::uint32_t>(index), args.scale);
  }
}

const void* cuda_symbols::draw_normal() {
  return reinterpret_cast<const void*>(&minimax_m3::draw_normal);
}

}  // namespace graphsan::step::minimax_m3
