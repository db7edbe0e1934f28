#include "step/minimax_m3/attention.hpp"

#include "step/minimax_m3/attention_tile.cuh"
#include "step/minimax_m3/cuda_symbols.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

/// First element of the output of row `row` of the block's group.
__device__ std::uint16_t* output_row(const AttentionArgs& args, const AttentionBlock& block,
                                     int row) {
  return args.out + (block.lane * args.q_heads + block.kv_head * block.group + row) * kHeadDim;
}

/// Calls `body(first_row, rows)` for each set of query heads that fits a thread block.
template <typename Body>
__device__ void for_row_sets(const AttentionBlock& block, Body body) {
  for (int first = 0; first < block.group; first += kRows) {
    body(first, block.group - first < kRows ? block.group - first : kRows);
  }
}

__device__ void store_rows(const AttentionArgs& args, const AttentionBlock& block, int first_row,
                           int rows, const RowTotal (&totals)[kRows], bool any_key) {
  const float value_scale = scale_or_one(args.v_scale);
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    if (row >= rows) continue;
    output_row(args, block, first_row + row)[threadIdx.x] =
        any_key ? totals[row].result(value_scale) : std::uint16_t{0};
  }
}

__device__ void join_stretch(const AttentionShared& shared, const ThreadSums& sums,
                             RowTotal (&totals)[kRows]) {
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    totals[row].join(shared.largest[row], shared.sum[row], sums.of_row[row]);
  }
}

__device__ bool out_of_range(const AttentionArgs& args) {
  return blockIdx.x >= static_cast<unsigned int>(args.tokens) || args.cache.key == nullptr;
}

/// Where the partial result of a row and split lies.
__device__ float* partial_of(const AttentionArgs& args, std::int64_t lane, std::int64_t head,
                             std::int64_t split) {
  const std::int64_t splits = attention_splits(args.context.table_stride, args.context.page_size);
  return args.scratch + ((lane * args.q_heads + head) * splits + split) * kPartialFloats;
}

}  // namespace

/// Grid: lanes × KV heads.
__global__ void sparse_attention(AttentionArgs args) {
  __shared__ AttentionShared shared;
  if (out_of_range(args)) return;
  const AttentionBlock block = attention_block(args);
  const std::int32_t* ids =
      args.top_k +
      (static_cast<std::int64_t>(block.kv_head) * args.tokens_stride + block.lane) * args.k;
  for_row_sets(block, [&](int first_row, int rows) {
    WarpSoftmax softmax;
    ThreadSums sums;
    clear(softmax, sums);
    __syncthreads();
    load_queries(args, block, first_row, rows, shared);
    bool any_key = false;
    for (std::int32_t i = 0; i < args.k; ++i) {
      const std::int64_t begin = static_cast<std::int64_t>(ids[i]) * kBlockSize;
      if (ids[i] < 0 || begin >= block.length) continue;
      any_key = true;
      const std::int64_t end =
          begin + kBlockSize < block.length ? begin + kBlockSize : block.length;
      attend_stretch(args, block, begin, end, shared, softmax, sums);
    }
    publish(softmax, shared);
    RowTotal totals[kRows];
    join_stretch(shared, sums, totals);
    store_rows(args, block, first_row, rows, totals, any_key);
  });
}

/// Grid: lanes × KV heads. Joins stretches of kAttentionSplit positions as the split form does.
__global__ void dense_attention(AttentionArgs args) {
  __shared__ AttentionShared shared;
  if (out_of_range(args)) return;
  const AttentionBlock block = attention_block(args);
  for_row_sets(block, [&](int first_row, int rows) {
    RowTotal totals[kRows];
    __syncthreads();
    load_queries(args, block, first_row, rows, shared);
    for (std::int64_t begin = 0; begin < block.length; begin += kAttentionSplit) {
      const std::int64_t end =
          begin + kAttentionSplit < block.length ? begin + kAttentionSplit : block.length;
      WarpSoftmax softmax;
      ThreadSums sums;
      clear(softmax, sums);
      attend_stretch(args, block, begin, end, shared, softmax, sums);
      publish(softmax, shared);
      join_stretch(shared, sums, totals);
    }
    store_rows(args, block, first_row, rows, totals, block.length > 0);
  });
}

/// Grid: lanes × KV heads × splits. Splits beyond a lane's context are left alone.
__global__ void dense_attention_split(AttentionArgs args) {
  __shared__ AttentionShared shared;
  if (out_of_range(args)) return;
  const AttentionBlock block = attention_block(args);
  const std::int64_t begin = blockIdx.z * kAttentionSplit;
  if (begin >= block.length) return;
  const std::int64_t end =
      begin + kAttentionSplit < block.length ? begin + kAttentionSplit : block.length;
  for_row_sets(block, [&](int first_row, int rows) {
    WarpSoftmax softmax;
    ThreadSums sums;
    clear(softmax, sums);
    __syncthreads();
    load_queries(args, block, first_row, rows, shared);
    attend_stretch(args, block, begin, end, shared, softmax, sums);
    publish(softmax, shared);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (row >= rows) continue;
      const std::int64_t head = block.kv_head * block.group + first_row + row;
      float* partial = partial_of(args, block.lane, head, blockIdx.z);
      partial[threadIdx.x] = sums.of_row[row];
      if (threadIdx.x == 0) {
        partial[kHeadDim] = shared.largest[row];
        partial[kHeadDim + 1] = shared.sum[row];
      }
    }
  });
}

/// Grid: lanes × query heads; one thread a dimension.
__global__ void dense_attention_combine(AttentionArgs args) {
  if (out_of_range(args)) return;
  const std::int64_t lane = blockIdx.x;
  const std::int64_t head = blockIdx.y;
  const std::int64_t length = context_length(args.context, lane);
  RowTotal total;
  for (std::int64_t split = 0; split * kAttentionSplit < length; ++split) {
    const float* partial = partial_of(args, lane, head, split);
    total.join(partial[kHeadDim], partial[kHeadDim + 1], partial[threadIdx.x]);
  }
  args.out[(lane * args.q_heads + head) * kHeadDim + threadIdx.x] =
      length > 0 ? total.result(scale_or_one(args.v_scale)) : std::uint16_t{0};
}

const void* cuda_symbols::sparse_attention() {
  return reinterpret_cast<const void*>(&minimax_m3::sparse_attention);
}

const void* cuda_symbols::dense_attention() {
  return reinterpret_cast<const void*>(&minimax_m3::dense_attention);
}

const void* cuda_symbols::dense_attention_split() {
  return reinterpret_cast<const void*>(&minimax_m3::dense_attention_split);
}

const void* cuda_symbols::dense_attention_combine() {
  return reinterpret_cast<const void*>(&minimax_m3::dense_attention_combine);
}

}  // namespace graphsan::step::minimax_m3
