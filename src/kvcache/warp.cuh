#pragma once

#include <cstdint>

#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {

inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFFU;

/// The calling thread as a lane of its warp; blocks are one-dimensional.
struct WarpLane {
  [[nodiscard]] __device__ std::uint32_t index() const { return threadIdx.x % xxh3::kWarpLanes; }
  [[nodiscard]] __device__ std::uint64_t exchange(std::uint64_t value, std::uint32_t mask) const {
    return __shfl_xor_sync(kAllLanes, static_cast<unsigned long long>(value),
                           static_cast<int>(mask));
  }
};

/// Number of the calling thread's warp in the grid.
__device__ inline std::int64_t warp_of_grid() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / xxh3::kWarpLanes;
}

/// find_cache() by a whole warp: independent loads in place of a chain of them.
__device__ inline std::int32_t find_cache_by_warp(const std::int64_t* first, std::int32_t count,
                                                  std::int64_t value) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % xxh3::kWarpLanes);
  std::int32_t not_above = 0;
#pragma unroll 8
  for (std::int32_t i = 0; i < count; i += xxh3::kWarpLanes) {
    const bool counts = i + lane < count && first[i + lane] <= value;
    not_above += __popc(__ballot_sync(kAllLanes, counts));
  }
  return not_above - 1;
}

/// Reads 16 bytes that nobody reads again, past the first-level cache.
__device__ inline xxh3::Chunk load_streaming(const std::byte* address) {
  xxh3::Chunk chunk;
  asm volatile("ld.global.nc.L1::no_allocate.v2.u64 {%0, %1}, [%2];"
               : "=l"(chunk.low), "=l"(chunk.high)
               : "l"(address));
  return chunk;
}

}  // namespace graphsan::kvcache
