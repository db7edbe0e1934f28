#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

/// One thread block's token; negative slots are moved up by `from_end`.
__device__ void scatter_token(const IndexKeyWriteArgs& args, std::int64_t from_end) {
  const std::int64_t token = blockIdx.x;
  if (token >= args.tokens || args.cache.base == nullptr) return;
  const std::int64_t slot =
      args.slots[token] < 0 ? args.slots[token] + from_end : args.slots[token];
  if (!writes_slot(slot, args.cache.slots)) return;
  for (int d = threadIdx.x; d < kHeadDim; d += blockDim.x) {
    args.cache.base[slot * kHeadDim + d] = args.index_k[token * args.stride + d];
  }
}

}  // namespace

__global__ void index_key_write(IndexKeyWriteArgs args) { scatter_token(args, 0); }

__global__ void index_put(IndexKeyWriteArgs args) { scatter_token(args, args.cache.slots); }

const void* cuda_symbols::index_key_write() {
  return reinterpret_cast<const void*>(&minimax_m3::index_key_write);
}

const void* cuda_symbols::index_put() {
  return reinterpret_cast<const void*>(&minimax_m3::index_put);
}

}  // namespace graphsan::step::minimax_m3
