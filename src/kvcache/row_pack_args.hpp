#pragma once

#include <cstddef>
#include <cstdint>

#include "kvcache/cache_descriptor.hpp"
#include "kvcache/pattern.hpp"

namespace graphsan::kvcache {

/// Copies listed rows from caches into packed bytes, or back.
struct PackArgs {
  const CacheDescriptor* caches;
  const std::int64_t* first_rows;  ///< [cache_count + 1]
  const std::int64_t* rows;        ///< [count] global
  const std::int64_t* offsets;     ///< [count + 1], into `bytes`
  std::byte* bytes;
  std::int64_t count;
  std::int32_t cache_count;
};

/// Copies listed rows between two sets of equal layouts.
struct CopyRowsArgs {
  const CacheDescriptor* from;
  const CacheDescriptor* to;
  const std::int64_t* first_rows;  ///< [cache_count + 1], of either set
  const std::int64_t* rows;        ///< [count] global
  std::int64_t count;
  std::int32_t cache_count;
};

/// Writes the pattern of (seed, row) into listed rows.
struct FillPatternArgs {
  const CacheDescriptor* caches;
  const std::int64_t* first_rows;  ///< [cache_count + 1]
  const std::int64_t* rows;        ///< [count] global
  PatternKey key;
  std::int64_t count;
  std::int32_t cache_count;
};

inline constexpr std::uint32_t kPackThreads = 256;  ///< one warp a row

/// Addresses of the `__global__` functions; defined in builds with CUDA only.
[[nodiscard]] const void* pack_symbol();
[[nodiscard]] const void* unpack_symbol();
[[nodiscard]] const void* copy_rows_symbol();
[[nodiscard]] const void* fill_pattern_symbol();

}  // namespace graphsan::kvcache
