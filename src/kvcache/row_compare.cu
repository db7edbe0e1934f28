#include "kvcache/row_compare_args.hpp"
#include "kvcache/warp.cuh"

namespace graphsan::kvcache {
namespace {

/// Adds `value` up over the block's threads before this one; `total` is the sum over all. Called by
/// all threads of the block.
__device__ std::uint32_t sum_of_earlier_threads(std::uint32_t value, std::uint32_t& total) {
  constexpr std::uint32_t kWarps = kCompareThreads / xxh3::kWarpLanes;
  __shared__ std::uint32_t warp_sums[kWarps];
  const std::uint32_t lane = WarpLane{}.index();
  std::uint32_t sum = value;
#pragma unroll
  for (std::uint32_t step = 1; step < xxh3::kWarpLanes; step *= 2) {
    const std::uint32_t earlier = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += earlier;
  }
  if (lane == xxh3::kWarpLanes - 1) warp_sums[threadIdx.x / xxh3::kWarpLanes] = sum;
  __syncthreads();
  std::uint32_t before = 0;
  total = 0;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    if (warp < threadIdx.x / xxh3::kWarpLanes) before += warp_sums[warp];
    total += warp_sums[warp];
  }
  return before + sum - value;
}

__global__ void __launch_bounds__(kCompareThreads) graphsan_compare_rows(CompareArgs args) {
  const std::int64_t first =
      std::int64_t{blockIdx.x} * kCompareThreads * kCompareRowsPerThread + threadIdx.x;
  std::uint32_t differs = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kCompareRowsPerThread; ++i) {
    const std::int64_t row = first + i * kCompareThreads;
    if (row < args.rows && args.a[row] != args.b[row]) differs |= 1U << i;
  }
  if (__syncthreads_or(static_cast<int>(differs)) == 0) return;

  std::uint32_t total = 0;
  const std::uint32_t before =
      sum_of_earlier_threads(static_cast<std::uint32_t>(__popc(differs)), total);
  __shared__ unsigned long long block_start;
  if (threadIdx.x == 0) block_start = atomicAdd(args.found, total);
  __syncthreads();
  auto place = static_cast<std::int64_t>(block_start + before);
  for (std::uint32_t i = 0; i < kCompareRowsPerThread; ++i) {
    if ((differs >> i & 1U) == 0) continue;
    if (place < args.capacity) args.list[place] = first + i * kCompareThreads;
    ++place;
  }
}

}  // namespace

const void* compare_symbol() { return reinterpret_cast<const void*>(&graphsan_compare_rows); }

}  // namespace graphsan::kvcache
