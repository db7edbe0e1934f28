#include <cmath>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr int kKeyThreads = 8;  // threads that share one key
constexpr int kPerThread = kHeadDim / kKeyThreads;

__device__ void load_sixteen(const std::uint16_t* source, float (&x)[kPerThread]) {
  const auto* words = reinterpret_cast<const uint4*>(source);
  for (int half = 0; half < 2; ++half) {
    const uint4 word = words[half];
    const unsigned int parts[4] = {word.x, word.y, word.z, word.w};
    for (int i = 0; i < 4; ++i) {
      x[half * 8 + i * 2] = bf16_to_float(static_cast<std::uint16_t>(parts[i] & 0xFFFFU));
      x[half * 8 + i * 2 + 1] = bf16_to_float(static_cast<std::uint16_t>(parts[i] >> 16));
    }
  }
}

/// Largest over the thread block of each thread's number, in thread 0; NaN only if all are.
__device__ float block_largest(float value) {
  __shared__ float of_warp[32];
  for (int apart = 16; apart > 0; apart /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, apart));
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned int warp = 1; warp < blockDim.x / 32; ++warp) value = fmaxf(value, of_warp[warp]);
  return value;
}

}  // namespace

/// Grid: lanes × blocks × heads.
__global__ void indexer_score(IndexerScoreArgs args) {
  const std::int64_t lane = blockIdx.x;
  const std::int64_t block = blockIdx.y;
  const std::int64_t head = blockIdx.z;
  if (lane >= args.tokens || args.index_cache == nullptr) return;
  const std::int64_t visible = context_length(args.context, lane) - block * kBlockSize;
  if (visible <= 0) return;
  const int keys = static_cast<int>(visible < kBlockSize ? visible : kBlockSize);
  const int part = threadIdx.x % kKeyThreads;
  float query[kPerThread];
  load_sixteen(args.index_q + (lane * args.heads + head) * kHeadDim + part * kPerThread, query);
  const std::int32_t* table = lane_table(args.context, lane);
  float largest = NAN;
  for (int first = 0; first < kBlockSize; first += blockDim.x / kKeyThreads) {
    const int key = first + threadIdx.x / kKeyThreads;
    float sum = NAN;
    if (key < keys) {
      const std::int64_t slot =
          context_slot(table, args.context.page_size, block * kBlockSize + key);
      float x[kPerThread];
      load_sixteen(args.index_cache + slot * kHeadDim + part * kPerThread, x);
      sum = 0.0F;
      for (int i = 0; i < kPerThread; ++i) sum = fmaf(query[i], x[i], sum);
    }
    for (int apart = kKeyThreads / 2; apart > 0; apart /= 2) {
      sum = __fadd_rn(sum, __shfl_xor_sync(0xFFFFFFFFU, sum, apart));
    }
    largest = fmaxf(largest, sum);
  }
  largest = block_largest(largest);
  if (threadIdx.x == 0) {
    args.scores[(head * args.tokens + lane) * args.blocks + block] = largest;
  }
}

const void* cuda_symbols::indexer_score() {
  return reinterpret_cast<const void*>(&minimax_m3::indexer_score);
}

}  // namespace graphsan::step::minimax_m3
