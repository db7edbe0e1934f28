#include "kvcache/row_hash_args.hpp"
#include "kvcache/row_reader.hpp"
#include "kvcache/warp.cuh"
#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {
namespace {

using xxh3::Chunk;
using xxh3::kChunkBytes;
using xxh3::kTileLoads;
using xxh3::kWarpLanes;

constexpr int kThreads = kHashWarps * kWarpLanes;

__device__ __noinline__ std::uint64_t hash_by_thread(const CacheDescriptor& cache,
                                                     std::int64_t row) {
  return xxh3::hash(RowReader{cache, row_address(cache, row)},
                    static_cast<std::uint32_t>(row_bytes(cache)));
}

/// Loads a tile's chunks; those beyond a row's end or the cache's last row stay zero. Where the
/// tile lies within a page its rows are evenly spaced and no load waits for a comparison.
template <std::uint32_t kSlot>
__device__ void load_tile(const CacheDescriptor& cache, std::uint32_t first_row,
                          Chunk (&chunks)[kTileLoads]) {
  using Shape = xxh3::TileShape<kSlot>;
  const std::uint32_t lane = WarpLane{}.index();
  const auto bytes = static_cast<std::uint32_t>(row_bytes(cache));
  const auto page_size = static_cast<std::uint32_t>(cache.page_size);
  const std::uint32_t first_slot = first_row % page_size;
  const std::uint32_t row = first_row + lane / Shape::kLanesPerRow;

  std::int64_t offsets[Shape::kLoadsPerRow];
  bool inside[Shape::kLoadsPerRow];
#pragma unroll
  for (std::uint32_t j = 0; j < Shape::kLoadsPerRow; ++j) {
    const std::uint32_t byte = Shape::chunk(lane, j) * kChunkBytes;
    inside[j] = byte < bytes;
    offsets[j] = byte_offset(cache, byte);
  }
  const bool evenly_spaced = first_slot + Shape::kRows <= page_size;
  const std::byte* address = row_address(cache, row);
  const std::int64_t step = Shape::kRowsPerLoad * cache.slot_stride;
  const auto rows = static_cast<std::uint32_t>(cache.rows);
#pragma unroll
  for (std::uint32_t j = 0; j < kTileLoads; ++j) {
    constexpr std::uint32_t kPerRow = Shape::kLoadsPerRow;
    const std::uint32_t number = row + j / kPerRow * Shape::kRowsPerLoad;
    if (!evenly_spaced && j % kPerRow == 0 && number < rows) address = row_address(cache, number);
    if (inside[j % kPerRow] && number < rows) {
      chunks[j] = load_streaming(address + offsets[j % kPerRow]);
    }
    if (evenly_spaced && j % kPerRow == kPerRow - 1) address += step;
  }
}

template <std::uint32_t kSlot>
__device__ void hash_tile(const CacheDescriptor& cache, std::uint32_t first_row,
                          std::uint64_t* digests) {
  Chunk chunks[kTileLoads];
  load_tile<kSlot>(cache, first_row, chunks);
  const auto result = [&] {
    if constexpr (kSlot <= 128) {
      return xxh3::hash_short_tile<kSlot>(WarpLane{}, chunks);
    } else {
      return xxh3::hash_long_tile<kSlot>(WarpLane{}, static_cast<std::uint32_t>(row_bytes(cache)),
                                         chunks);
    }
  }();
  if (!result.writes) return;
#pragma unroll
  for (std::uint32_t i = 0; i < result.count; ++i) {
    const std::int64_t row = first_row + result.first_row + i * result.row_step;
    if (row < cache.rows) digests[cache.first_row + row] = result.digests[i];
  }
}

/// The first 1024 bytes of a row on a fast path, spread over the warp.
__device__ void load_row(const CacheDescriptor& cache, const std::byte* row, Chunk (&chunks)[2]) {
#pragma unroll
  for (std::uint32_t j = 0; j < 2; ++j) {
    const std::uint32_t byte = (j * kWarpLanes + WarpLane{}.index()) * kChunkBytes;
    if (byte < static_cast<std::uint32_t>(row_bytes(cache))) {
      chunks[j] = load_streaming(row + byte_offset(cache, byte));
    }
  }
}

/// Digest of a row on a fast path; `chunks` are those of load_row().
__device__ std::uint64_t hash_by_warp(const CacheDescriptor& cache, const std::byte* row,
                                      const Chunk (&chunks)[2]) {
  const auto bytes = static_cast<std::uint32_t>(row_bytes(cache));
  if (bytes <= xxh3::kBlockBytes) return xxh3::hash_warp_row(WarpLane{}, bytes, chunks);
  return xxh3::hash_warp_long_row(WarpLane{}, bytes, [&](std::uint32_t byte) {
    return load_streaming(row + byte_offset(cache, byte));
  });
}

__device__ void hash_rows_by_warp(const CacheDescriptor& cache, std::uint32_t first_row,
                                  std::uint64_t* digests) {
  const std::int64_t end = min(cache.rows, std::int64_t{first_row} + cache.rows_per_tile);
  for (std::int64_t row = first_row; row < end; ++row) {
    const std::byte* address = row_address(cache, row);
    Chunk chunks[2];
    if (row_bytes(cache) <= static_cast<std::int32_t>(xxh3::kBlockBytes)) {
      load_row(cache, address, chunks);
    }
    const std::uint64_t digest = hash_by_warp(cache, address, chunks);
    if (WarpLane{}.index() == 0) digests[cache.first_row + row] = digest;
  }
}

__global__ void __launch_bounds__(kThreads, 4) graphsan_hash_all(HashAllArgs args) {
  const std::int64_t tile = warp_of_grid();
  if (tile >= args.tiles) return;
  const std::int32_t index = find_cache_by_warp(args.first_tiles, args.cache_count, tile);
  const CacheDescriptor& cache = args.caches[index];
  const auto first_row =
      static_cast<std::uint32_t>((tile - args.first_tiles[index]) * cache.rows_per_tile);
  switch (cache.path) {
    case RowPath::kSlot64:
      return hash_tile<64>(cache, first_row, args.digests);
    case RowPath::kSlot128:
      return hash_tile<128>(cache, first_row, args.digests);
    case RowPath::kSlot256:
      return hash_tile<256>(cache, first_row, args.digests);
    case RowPath::kSlot512:
      return hash_tile<512>(cache, first_row, args.digests);
    case RowPath::kSlot1024:
      return hash_tile<1024>(cache, first_row, args.digests);
    case RowPath::kWarp:
      return hash_rows_by_warp(cache, first_row, args.digests);
    case RowPath::kBytes:
      const std::int64_t row = std::int64_t{first_row} + WarpLane{}.index();
      if (row < cache.rows) args.digests[cache.first_row + row] = hash_by_thread(cache, row);
      return;
  }
}

/// The entries of a row list that one warp takes. All loads of a kind are issued together, because
/// a short list is bound by their latency.
struct ListEntries {
  std::int64_t rows[kHashRowsPerWarp];  ///< global; -1: none
  std::int32_t caches[kHashRowsPerWarp];
};

__device__ ListEntries find_entries(const HashRowsArgs& args, std::int64_t begin) {
  const std::int64_t end = args.first_rows[args.cache_count];
  ListEntries entries;
#pragma unroll
  for (std::uint32_t e = 0; e < kHashRowsPerWarp; ++e) {
    const std::int64_t row = begin + e < args.count ? args.rows[begin + e] : -1;
    entries.rows[e] = row < end ? row : -1;
    entries.caches[e] = -1;
  }
  const auto lane = static_cast<std::int32_t>(WarpLane{}.index());
#pragma unroll 4
  for (std::int32_t i = 0; i < args.cache_count; i += kWarpLanes) {
    const std::int64_t first = i + lane < args.cache_count ? args.first_rows[i + lane] : end;
#pragma unroll
    for (std::uint32_t e = 0; e < kHashRowsPerWarp; ++e) {
      entries.caches[e] += __popc(__ballot_sync(kAllLanes, first <= entries.rows[e]));
    }
  }
  return entries;
}

__global__ void __launch_bounds__(kThreads, 3) graphsan_hash_rows(HashRowsArgs args) {
  const std::int64_t begin = warp_of_grid() * kHashRowsPerWarp;
  const ListEntries entries = find_entries(args, begin);
  const std::byte* addresses[kHashRowsPerWarp];
  Chunk chunks[kHashRowsPerWarp][2];
#pragma unroll
  for (std::uint32_t e = 0; e < kHashRowsPerWarp; ++e) {
    addresses[e] = nullptr;
    if (entries.rows[e] < 0) continue;
    const CacheDescriptor& cache = args.caches[entries.caches[e]];
    addresses[e] = row_address(cache, entries.rows[e] - cache.first_row);
    if (cache.path != RowPath::kBytes) load_row(cache, addresses[e], chunks[e]);
  }
#pragma unroll
  for (std::uint32_t e = 0; e < kHashRowsPerWarp; ++e) {
    if (entries.rows[e] < 0) continue;
    const CacheDescriptor& cache = args.caches[entries.caches[e]];
    const std::uint32_t lane = WarpLane{}.index();
    if (cache.path == RowPath::kBytes) {
      if (lane == 0) {
        args.digests[entries.rows[e]] = hash_by_thread(cache, entries.rows[e] - cache.first_row);
      }
      continue;
    }
    const std::uint64_t digest = hash_by_warp(cache, addresses[e], chunks[e]);
    if (lane == 0) args.digests[entries.rows[e]] = digest;
  }
}

}  // namespace

const void* hash_all_symbol() { return reinterpret_cast<const void*>(&graphsan_hash_all); }

const void* hash_rows_symbol() { return reinterpret_cast<const void*>(&graphsan_hash_rows); }

}  // namespace graphsan::kvcache
