#pragma once

#include <cstdint>

#include "kvcache/cache_descriptor.hpp"

namespace graphsan::kvcache {

/// Full pass: one warp a tile.
struct HashAllArgs {
  const CacheDescriptor* caches;
  const std::int64_t* first_tiles;  ///< [cache_count + 1]
  std::uint64_t* digests;           ///< by global row
  std::int64_t tiles;
  std::int32_t cache_count;
};

/// Incremental pass over a list of rows.
struct HashRowsArgs {
  const CacheDescriptor* caches;
  const std::int64_t* first_rows;  ///< [cache_count + 1]
  const std::int64_t*
      rows;  ///< [count] global rows; others than 0 to first_rows[cache_count] - 1: skipped
  std::uint64_t* digests;  ///< by global row
  std::int64_t count;
  std::int32_t cache_count;
};

inline constexpr std::uint32_t kHashWarps = 8;        ///< warps of a block, one tile each
inline constexpr std::uint32_t kHashRowsPerWarp = 4;  ///< entries of a row list a warp takes

/// Addresses of the `__global__` functions; defined in builds with CUDA only.
[[nodiscard]] const void* hash_all_symbol();
[[nodiscard]] const void* hash_rows_symbol();

}  // namespace graphsan::kvcache
