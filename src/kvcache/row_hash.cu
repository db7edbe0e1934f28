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

/// Where a lane's chunks of a row lie, relative to the row's address.
template <std::uint32_t kSlot>
struct LaneChunks {
  using Shape = xxh3::TileShape<kSlot>;
  std::int64_t offsets[Shape::kLoadsPerRow];
  bool inside[Shape::kLoadsPerRow];

  __device__ explicit LaneChunks(const CacheDescriptor& cache) {
#pragma unroll
    for (std::uint32_t j = 0; j < Shape::kLoadsPerRow; ++j) {
      const std::uint32_t byte = Shape::chunk(WarpLane{}.index(), j) * kChunkBytes;
      inside[j] = byte < static_cast<std::uint32_t>(row_bytes(cache));
      offsets[j] = byte_offset(cache, byte);
    }
  }
};

/// Loads a tile whose rows lie in one page, `first` being its first row's address: evenly spaced,
/// so that no load waits for a comparison. Chunks beyond a row's end stay zero.
template <std::uint32_t kSlot>
__device__ void load_tile_of_a_page(const CacheDescriptor& cache, const std::byte* first,
                                    Chunk (&chunks)[kTileLoads]) {
  using Shape = xxh3::TileShape<kSlot>;
  const LaneChunks<kSlot> lane_chunks{cache};
  const std::int64_t step = Shape::kRowsPerLoad * cache.slot_stride;
  const std::byte* row = first + WarpLane{}.index() / Shape::kLanesPerRow * cache.slot_stride;
#pragma unroll
  for (std::uint32_t j = 0; j < kTileLoads; ++j) {
    const std::uint32_t part = j % Shape::kLoadsPerRow;
    if (lane_chunks.inside[part]) chunks[j] = load_streaming(row + lane_chunks.offsets[part]);
    if (part == Shape::kLoadsPerRow - 1) row += step;
  }
}

/// Loads any tile; chunks beyond a row's end or the cache's last row stay zero.
template <std::uint32_t kSlot>
__device__ void load_any_tile(const CacheDescriptor& cache, std::uint32_t first_row,
                              Chunk (&chunks)[kTileLoads]) {
  using Shape = xxh3::TileShape<kSlot>;
  const LaneChunks<kSlot> lane_chunks{cache};
#pragma unroll
  for (std::uint32_t j = 0; j < kTileLoads; ++j) {
    const std::uint32_t part = j % Shape::kLoadsPerRow;
    const std::uint32_t row = first_row + Shape::row(WarpLane{}.index(), j);
    if (row >= cache.rows || !lane_chunks.inside[part]) continue;
    chunks[j] = load_streaming(row_address(cache, row) + lane_chunks.offsets[part]);
  }
}

template <std::uint32_t kSlot>
__device__ void load_tile(const CacheDescriptor& cache, std::uint32_t first_row,
                          Chunk (&chunks)[kTileLoads]) {
  constexpr std::uint32_t kRows = xxh3::TileShape<kSlot>::kRows;
  const auto page_size = static_cast<std::uint32_t>(cache.page_size);
  const std::uint32_t page = page_of(cache, first_row);
  const std::uint32_t slot = first_row - page * page_size;
  if (slot + kRows <= page_size) {
    load_tile_of_a_page<kSlot>(
        cache, cache.base + page * cache.page_stride + slot * cache.slot_stride, chunks);
  } else {
    load_any_tile<kSlot>(cache, first_row, chunks);
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

__device__ __noinline__ std::uint64_t hash_long_by_warp(const CacheDescriptor& cache,
                                                        const std::byte* row) {
  const auto load = [&](std::uint32_t byte) {
    return load_streaming(row + byte_offset(cache, byte));
  };
  return xxh3::hash_warp_long_row(WarpLane{}, static_cast<std::uint32_t>(row_bytes(cache)), load);
}

__device__ __noinline__ void hash_rows_by_warp(const CacheDescriptor& cache,
                                               std::uint32_t first_row, std::uint64_t* digests) {
  const auto bytes = static_cast<std::uint32_t>(row_bytes(cache));
  const std::int64_t end = min(cache.rows, std::int64_t{first_row} + cache.rows_per_tile);
  for (std::int64_t row = first_row; row < end; ++row) {
    const std::byte* const address = row_address(cache, row);
    std::uint64_t digest = 0;
    if (bytes <= xxh3::kBlockBytes) {
      Chunk chunks[2];
      load_row(cache, address, chunks);
      digest = xxh3::hash_warp_row(WarpLane{}, bytes, chunks);
    } else {
      digest = hash_long_by_warp(cache, address);
    }
    if (WarpLane{}.index() == 0) digests[cache.first_row + row] = digest;
  }
}

__global__ void __launch_bounds__(kThreads, 4) graphsan_hash_all(HashAllArgs args) {
  const std::int64_t tile = warp_of_grid();
  if (tile >= args.tiles) return;
  const std::int32_t index = find_cache_by_warp(args.first_tiles, args.cache_count, tile);
  const CacheDescriptor cache = args.caches[index];
  const std::uint32_t first_row =
      static_cast<std::uint32_t>(tile - args.first_tiles[index]) * cache.rows_per_tile;
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
      return hash_rows_by_warp(args.caches[index], first_row, args.digests);
    case RowPath::kBytes:
      const std::int64_t row = std::int64_t{first_row} + WarpLane{}.index();
      if (row >= cache.rows) return;
      args.digests[cache.first_row + row] = hash_by_thread(args.caches[index], row);
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

/// An entry whose row is longer than a block or takes the slower path.
__device__ __noinline__ void hash_other_entry(const HashRowsArgs& args, std::int64_t entry) {
  const std::int64_t row = args.rows[entry];
  const CacheDescriptor& cache = args.caches[find_cache(args.first_rows, args.cache_count, row)];
  std::uint64_t digest = 0;
  if (cache.path != RowPath::kBytes) {
    digest = hash_long_by_warp(cache, row_address(cache, row - cache.first_row));
  } else if (WarpLane{}.index() == 0) {
    digest = hash_by_thread(cache, row - cache.first_row);
  }
  if (WarpLane{}.index() == 0) args.digests[row] = digest;
}

__global__ void __launch_bounds__(kThreads, 3)
    graphsan_hash_rows(const __grid_constant__ HashRowsArgs args) {
  const std::int64_t begin = warp_of_grid() * kHashRowsPerWarp;
  const ListEntries entries = find_entries(args, begin);
  Chunk chunks[kHashRowsPerWarp][2];
  std::uint32_t bytes[kHashRowsPerWarp];  // 0: nothing left to do here
  std::uint32_t others = 0;
#pragma unroll
  for (std::uint32_t e = 0; e < kHashRowsPerWarp; ++e) {
    bytes[e] = 0;
    if (entries.rows[e] < 0) continue;
    const CacheDescriptor& cache = args.caches[entries.caches[e]];
    const auto size = static_cast<std::uint32_t>(row_bytes(cache));
    if (cache.path == RowPath::kBytes || size > xxh3::kBlockBytes) {
      others |= 1U << e;
      continue;
    }
    bytes[e] = size;
    load_row(cache, row_address(cache, entries.rows[e] - cache.first_row), chunks[e]);
  }
#pragma unroll
  for (std::uint32_t e = 0; e < kHashRowsPerWarp; ++e) {
    if (bytes[e] == 0) continue;
    const std::uint64_t digest = xxh3::hash_warp_row(WarpLane{}, bytes[e], chunks[e]);
    if (WarpLane{}.index() == 0) args.digests[entries.rows[e]] = digest;
  }
#pragma unroll 1
  for (std::uint32_t e = 0; others >> e != 0; ++e) {
    if ((others >> e & 1U) != 0) hash_other_entry(args, begin + e);
  }
}

}  // namespace

const void* hash_all_symbol() { return reinterpret_cast<const void*>(&graphsan_hash_all); }

const void* hash_rows_symbol() { return reinterpret_cast<const void*>(&graphsan_hash_rows); }

}  // namespace graphsan::kvcache
