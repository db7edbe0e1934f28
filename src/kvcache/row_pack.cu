#include "kvcache/row_pack_args.hpp"
#include "kvcache/warp.cuh"

namespace graphsan::kvcache {
namespace {

using xxh3::kWarpLanes;

/// Copies bytes by the calling warp, 16 at a time where both sides allow it.
__device__ void copy_bytes(std::byte* to, const std::byte* from, std::int32_t bytes) {
  const auto lane = static_cast<std::int32_t>(WarpLane{}.index());
  const auto misaligned =
      (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) %
      sizeof(uint4);
  std::int32_t done = 0;
  if (misaligned == 0) {
    const std::int32_t words = bytes / static_cast<std::int32_t>(sizeof(uint4));
    for (std::int32_t i = lane; i < words; i += kWarpLanes) {
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
    done = words * static_cast<std::int32_t>(sizeof(uint4));
  }
  for (std::int32_t i = done + lane; i < bytes; i += kWarpLanes) to[i] = from[i];
}

/// A row and how many bytes its runs have, one after another where it is contiguous.
struct RowRuns {
  std::byte* address;
  std::int64_t head_stride;
  std::int32_t runs;
  std::int32_t run_bytes;
};

__device__ RowRuns runs_of(const CacheDescriptor& cache, std::int64_t global_row) {
  std::byte* const address = row_address(cache, global_row - cache.first_row);
  if (cache.contiguous != 0) return {address, 0, 1, row_bytes(cache)};
  return {address, cache.head_stride, cache.heads, cache.run_bytes};
}

__global__ void __launch_bounds__(kPackThreads) graphsan_pack_rows(PackArgs args) {
  const std::int64_t entry = warp_of_grid();
  if (entry >= args.count) return;
  const std::int64_t row = args.rows[entry];
  const std::int32_t index = find_cache_by_warp(args.first_rows, args.cache_count, row);
  const RowRuns from = runs_of(args.caches[index], row);
  std::byte* const to = args.bytes + args.offsets[entry];
  for (std::int32_t run = 0; run < from.runs; ++run) {
    copy_bytes(to + std::int64_t{run} * from.run_bytes, from.address + run * from.head_stride,
               from.run_bytes);
  }
}

__global__ void __launch_bounds__(kPackThreads) graphsan_unpack_rows(PackArgs args) {
  const std::int64_t entry = warp_of_grid();
  if (entry >= args.count) return;
  const std::int64_t row = args.rows[entry];
  const std::int32_t index = find_cache_by_warp(args.first_rows, args.cache_count, row);
  const RowRuns to = runs_of(args.caches[index], row);
  const std::byte* const from = args.bytes + args.offsets[entry];
  for (std::int32_t run = 0; run < to.runs; ++run) {
    copy_bytes(to.address + run * to.head_stride, from + std::int64_t{run} * to.run_bytes,
               to.run_bytes);
  }
}

__global__ void __launch_bounds__(kPackThreads) graphsan_copy_rows(CopyRowsArgs args) {
  const std::int64_t entry = warp_of_grid();
  if (entry >= args.count) return;
  const std::int64_t row = args.rows[entry];
  const std::int32_t index = find_cache_by_warp(args.first_rows, args.cache_count, row);
  const RowRuns from = runs_of(args.from[index], row);
  const RowRuns to = runs_of(args.to[index], row);
  for (std::int32_t run = 0; run < to.runs; ++run) {
    copy_bytes(to.address + run * to.head_stride, from.address + run * from.head_stride,
               to.run_bytes);
  }
}

__global__ void __launch_bounds__(kPackThreads) graphsan_fill_pattern(FillPatternArgs args) {
  const std::int64_t entry = warp_of_grid();
  if (entry >= args.count) return;
  const std::int64_t row = args.rows[entry];
  const CacheDescriptor& cache =
      args.caches[find_cache_by_warp(args.first_rows, args.cache_count, row)];
  std::byte* const address = row_address(cache, row - cache.first_row);
  const auto bytes = static_cast<std::uint32_t>(row_bytes(cache));
  for (std::uint32_t byte = WarpLane{}.index(); byte < bytes; byte += kWarpLanes) {
    address[byte_offset(cache, byte)] =
        pattern_byte(args.key, static_cast<std::uint64_t>(row), byte);
  }
}

}  // namespace

const void* pack_symbol() { return reinterpret_cast<const void*>(&graphsan_pack_rows); }

const void* unpack_symbol() { return reinterpret_cast<const void*>(&graphsan_unpack_rows); }

const void* copy_rows_symbol() { return reinterpret_cast<const void*>(&graphsan_copy_rows); }

const void* fill_pattern_symbol() { return reinterpret_cast<const void*>(&graphsan_fill_pattern); }

}  // namespace graphsan::kvcache
