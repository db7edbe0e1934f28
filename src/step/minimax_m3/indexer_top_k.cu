#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/indexer_top_k.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

/// Largest key over the thread block, in every thread.
__device__ std::uint64_t block_largest(std::uint64_t key) {
  __shared__ std::uint64_t of_warp[32];
  for (int apart = 16; apart > 0; apart /= 2) {
    const std::uint64_t other = __shfl_xor_sync(0xFFFFFFFFU, key, apart);
    key = other > key ? other : key;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = key;
  __syncthreads();
  for (unsigned int warp = 0; warp < blockDim.x / 32; ++warp) {
    key = of_warp[warp] > key ? of_warp[warp] : key;
  }
  return key;
}

}  // namespace

/// Grid: lanes × heads; `k` ints of dynamic shared memory. Round i finds the best key below that of
/// round i - 1, so nothing has to be marked as taken.
__global__ void indexer_top_k(IndexerTopKArgs args) {
  extern __shared__ std::int32_t chosen_ids[];
  const std::int64_t lane = blockIdx.x;
  const std::int64_t head = blockIdx.y;
  if (lane >= args.tokens) return;
  std::int32_t* ids = args.top_k + (head * args.tokens_stride + lane) * args.k;
  const std::int32_t visible = visible_blocks(args, lane);
  const std::int32_t chosen = visible < args.k ? visible : args.k;
  for (std::int32_t i = threadIdx.x; i < args.k; i += blockDim.x) {
    ids[i] = i < chosen ? i : -1;
  }
  if (visible <= args.k) return;
  const float* scores = args.scores + (head * args.tokens + lane) * args.blocks;
  std::uint64_t bound = ~std::uint64_t{0};
  for (std::int32_t round = 0; round < chosen; ++round) {
    std::uint64_t best = 0;
    for (std::int32_t block = threadIdx.x; block < visible; block += blockDim.x) {
      const std::uint64_t key =
          rank_key(effective_score(args, scores[block], block, visible), block);
      if (key < bound && key > best) best = key;
    }
    bound = block_largest(best);
    if (threadIdx.x == 0) chosen_ids[round] = block_of_key(bound);
  }
  __syncthreads();
  for (std::int32_t i = threadIdx.x; i < chosen; i += blockDim.x) {
    std::int32_t smaller = 0;
    for (std::int32_t j = 0; j < chosen; ++j) smaller += chosen_ids[j] < chosen_ids[i] ? 1 : 0;
    ids[smaller] = chosen_ids[i];
  }
}

const void* cuda_symbols::indexer_top_k() {
  return reinterpret_cast<const void*>(&minimax_m3::indexer_top_k);
}

}  // namespace graphsan::step::minimax_m3
