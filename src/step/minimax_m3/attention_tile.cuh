#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "step/minimax_m3/attention.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/exact_math.hpp"
#include "step/minimax_m3/fp8_convert.hpp"
#include "step/minimax_m3/op_args.hpp"

// One thread block's attention: up to kRows query heads of one lane against a stretch of keys, in
// tiles of 32. All orders of summation follow the positions, never the batch.
namespace graphsan::step::minimax_m3 {

inline constexpr int kBlockThreads = 128;  // one thread a dimension when values are summed
inline constexpr int kWarpSize = 32;
inline constexpr int kWarps = kBlockThreads / kWarpSize;
inline constexpr int kRows = 16;
inline constexpr int kRowsPerWarp = kRows / kWarps;
inline constexpr int kKeys = kWarpSize;  // keys of a tile: one thread each when scores are made
inline constexpr int kKeyPitch = kHeadDim + 4;  // keeps the threads of a warp on different banks
static_assert(kBlockThreads == kHeadDim);

struct AttentionShared {
  alignas(16) float query[kRows][kHeadDim];
  alignas(16) float key[kKeys][kKeyPitch];
  alignas(16) float value[kKeys][kHeadDim];
  alignas(16) float weight[kRows][kKeys];
  float shrink[kRows];   ///< factor of the sums before this tile
  float largest[kRows];  ///< of the finished stretch
  float sum[kRows];
};

/// Softmax of the rows of one warp over the stretch so far; the same in all its threads.
struct WarpSoftmax {
  float largest[kRowsPerWarp];
  float sum[kRowsPerWarp];
};

/// Sums of one thread's dimension, one a row.
struct ThreadSums {
  float of_row[kRows];
};

/// What a thread block works on.
struct AttentionBlock {
  std::int64_t lane;
  std::int32_t kv_head;
  std::int32_t group;   ///< query heads of the KV head
  std::int64_t length;  ///< context of the lane
  const std::int32_t* table;
  float logit_factor;  ///< turns a dot product into a logit of base 2
};

__device__ inline AttentionBlock attention_block(const AttentionArgs& args) {
  AttentionBlock block;
  block.lane = blockIdx.x;
  block.kv_head = static_cast<std::int32_t>(blockIdx.y);
  block.group = args.q_heads / args.cache.heads;
  block.length = context_length(args.context, block.lane);
  block.table = lane_table(args.context, block.lane);
  constexpr float kSoftmaxScale = 0.08838834764831845F;  // 128^-0.5
  constexpr float kLog2E = 1.4426950408889634F;
  block.logit_factor = multiply(kSoftmaxScale * kLog2E, scale_or_one(args.k_scale));
  return block;
}

/// Four elements of a run, four apart from the next thread's.
__device__ inline float4 load_four(const std::byte* run, int thread, model::DType dtype) {
  if (dtype == model::DType::kBf16) {
    const uint2 word = reinterpret_cast<const uint2*>(run)[thread];
    return {bf16_to_float(static_cast<std::uint16_t>(word.x)),
            bf16_to_float(static_cast<std::uint16_t>(word.x >> 16)),
            bf16_to_float(static_cast<std::uint16_t>(word.y)),
            bf16_to_float(static_cast<std::uint16_t>(word.y >> 16))};
  }
  const uchar4 codes = reinterpret_cast<const uchar4*>(run)[thread];
  if (dtype == model::DType::kFp8E4M3) {
    return {decode_fp8<E4M3>(codes.x), decode_fp8<E4M3>(codes.y), decode_fp8<E4M3>(codes.z),
            decode_fp8<E4M3>(codes.w)};
  }
  return {decode_fp8<E5M2>(codes.x), decode_fp8<E5M2>(codes.y), decode_fp8<E5M2>(codes.z),
          decode_fp8<E5M2>(codes.w)};
}

/// Queries of heads [first_row, first_row + rows) of the group; the rest of the rows are zero.
__device__ inline void load_queries(const AttentionArgs& args, const AttentionBlock& block,
                                    int first_row, int rows, AttentionShared& shared) {
  const std::uint16_t* source =
      args.q + (block.lane * args.q_heads + block.kv_head * block.group + first_row) * kHeadDim;
  for (int row = 0; row < kRows; ++row) {
    shared.query[row][threadIdx.x] =
        row < rows ? bf16_to_float(source[row * kHeadDim + threadIdx.x]) : 0.0F;
  }
}

/// K and V at [begin, begin + count); values beyond are zero, so that a weight of zero keeps them
/// out whatever memory holds.
__device__ inline void load_key_values(const AttentionArgs& args, const AttentionBlock& block,
                                       std::int64_t begin, int count, AttentionShared& shared) {
  const int thread = threadIdx.x % kWarpSize;
  for (int key = threadIdx.x / kWarpSize; key < kKeys; key += kWarps) {
    float4 k = {};
    float4 v = {};
    if (key < count) {
      const std::int64_t slot = context_slot(block.table, args.context.page_size, begin + key);
      const std::int64_t offset = kv_offset(args.cache, slot, block.kv_head);
      k = load_four(args.cache.key + offset, thread, args.cache.dtype);
      v = load_four(args.cache.value + offset, thread, args.cache.dtype);
    }
    *reinterpret_cast<float4*>(&shared.key[key][thread * 4]) = k;
    *reinterpret_cast<float4*>(&shared.value[key][thread * 4]) = v;
  }
}

/// Scores of the rows of this warp against the thread's key.
__device__ inline void score_key(const AttentionShared& shared, float (&scores)[kRowsPerWarp]) {
  const int warp = threadIdx.x / kWarpSize;
  const int key = threadIdx.x % kWarpSize;
  for (int i = 0; i < kRowsPerWarp; ++i) scores[i] = 0.0F;
  for (int d = 0; d < kHeadDim; d += 4) {
    const float4 k = *reinterpret_cast<const float4*>(&shared.key[key][d]);
#pragma unroll
    for (int i = 0; i < kRowsPerWarp; ++i) {
      const float4 q = *reinterpret_cast<const float4*>(&shared.query[warp + i * kWarps][d]);
      scores[i] = fmaf(q.x, k.x, scores[i]);
      scores[i] = fmaf(q.y, k.y, scores[i]);
      scores[i] = fmaf(q.z, k.z, scores[i]);
      scores[i] = fmaf(q.w, k.w, scores[i]);
    }
  }
}

/// Turns scores into weights in shared memory and updates the warp's softmax.
__device__ inline void weigh_keys(const AttentionBlock& block, int count, AttentionShared& shared,
                                  WarpSoftmax& softmax) {
  const int warp = threadIdx.x / kWarpSize;
  const int key = threadIdx.x % kWarpSize;
  float scores[kRowsPerWarp];
  score_key(shared, scores);
#pragma unroll
  for (int i = 0; i < kRowsPerWarp; ++i) {
    const float logit = key < count ? multiply(scores[i], block.logit_factor) : -INFINITY;
    float largest = fmaxf(softmax.largest[i], logit);
    for (int apart = kWarpSize / 2; apart > 0; apart /= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFU, largest, apart));
    }
    const float weight = exp2f(add(logit, -largest));
    float sum = weight;
    for (int apart = kWarpSize / 2; apart > 0; apart /= 2) {
      sum = add(sum, __shfl_xor_sync(0xFFFFFFFFU, sum, apart));
    }
    const float shrink = exp2f(add(softmax.largest[i], -largest));
    softmax.sum[i] = add(multiply(softmax.sum[i], shrink), sum);
    softmax.largest[i] = largest;
    shared.weight[warp + i * kWarps][key] = weight;
    if (key == 0) shared.shrink[warp + i * kWarps] = shrink;
  }
}

/// Adds the weighted values of a tile to the thread's dimension.
__device__ inline void add_values(const AttentionShared& shared, ThreadSums& sums) {
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    sums.of_row[row] = multiply(sums.of_row[row], shared.shrink[row]);
  }
  for (int key = 0; key < kKeys; key += 4) {
    const float v0 = shared.value[key][threadIdx.x];
    const float v1 = shared.value[key + 1][threadIdx.x];
    const float v2 = shared.value[key + 2][threadIdx.x];
    const float v3 = shared.value[key + 3][threadIdx.x];
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float4 w = *reinterpret_cast<const float4*>(&shared.weight[row][key]);
      float sum = fmaf(w.x, v0, sums.of_row[row]);
      sum = fmaf(w.y, v1, sum);
      sum = fmaf(w.z, v2, sum);
      sums.of_row[row] = fmaf(w.w, v3, sum);
    }
  }
}

__device__ inline void clear(WarpSoftmax& softmax, ThreadSums& sums) {
  for (int i = 0; i < kRowsPerWarp; ++i) {
    softmax.largest[i] = -INFINITY;
    softmax.sum[i] = 0.0F;
  }
  for (int row = 0; row < kRows; ++row) sums.of_row[row] = 0.0F;
}

/// Attends to positions [begin, end), which lie in the lane's context.
__device__ inline void attend_stretch(const AttentionArgs& args, const AttentionBlock& block,
                                      std::int64_t begin, std::int64_t end, AttentionShared& shared,
                                      WarpSoftmax& softmax, ThreadSums& sums) {
  for (std::int64_t first = begin; first < end; first += kKeys) {
    const int count = static_cast<int>(end - first < kKeys ? end - first : kKeys);
    __syncthreads();
    load_key_values(args, block, first, count, shared);
    __syncthreads();
    weigh_keys(block, count, shared, softmax);
    __syncthreads();
    add_values(shared, sums);
  }
}

/// Makes the warps' softmax visible to all threads.
__device__ inline void publish(const WarpSoftmax& softmax, AttentionShared& shared) {
  __syncthreads();
  if (threadIdx.x % kWarpSize == 0) {
    for (int i = 0; i < kRowsPerWarp; ++i) {
      shared.largest[threadIdx.x / kWarpSize + i * kWarps] = softmax.largest[i];
      shared.sum[threadIdx.x / kWarpSize + i * kWarps] = softmax.sum[i];
    }
  }
  __syncthreads();
}

/// Running total of one row and dimension over the stretches of a context.
struct RowTotal {
  float largest = -INFINITY;
  float sum = 0.0F;
  float weighted = 0.0F;

  /// Adds a later stretch. Each operation is rounded apart: the two forms of dense attention share
  /// this, and must give the same bits.
  __device__ void join(float stretch_largest, float stretch_sum, float stretch_weighted) {
    const float joined = fmaxf(largest, stretch_largest);
    const float before = exp2f(add(largest, -joined));
    const float after = exp2f(add(stretch_largest, -joined));
    sum = add(multiply(sum, before), multiply(stretch_sum, after));
    weighted = add(multiply(weighted, before), multiply(stretch_weighted, after));
    largest = joined;
  }

  __device__ std::uint16_t result(float value_scale) const {
    return float_to_bf16(multiply(weighted, __fdiv_rn(value_scale, sum)));
  }
};

}  // namespace graphsan::step::minimax_m3
