#pragma once

#include <cstddef>
#include <cstdint>

#include "kvcache/portable.hpp"

namespace graphsan::kvcache {

/// How the rows of a cache are hashed on CUDA. `kSlotN`: rows of more than N / 2 and at most N
/// bytes, many rows a warp; `kWarp`: one row a warp, 192 bytes or more than 1024; `kBytes`: the
/// slower path of one thread a row, for runs that are not 16-byte aligned multiples of 64 bytes.
enum class RowPath : std::uint8_t {
  kSlot64,
  kSlot128,
  kSlot256,
  kSlot512,
  kSlot1024,
  kWarp,
  kBytes
};

inline constexpr std::uint8_t kNoShift = 0xFF;

/// Device form of a CacheView, 64 bytes, read by every kernel of this module. Strides in bytes.
struct alignas(16) CacheDescriptor {
  std::byte* base;
  std::int64_t first_row;  ///< global number of the cache's row 0
  std::int64_t rows;
  std::int64_t page_stride;
  std::int64_t slot_stride;
  std::int64_t head_stride;
  std::int32_t page_size;  ///< slots of a page; all rows where the pages leave no gaps
  std::int32_t heads;
  std::int32_t run_bytes;
  std::uint8_t contiguous;  ///< 1: the runs of a row follow each other, so a row is one run
  RowPath path;
  std::uint8_t rows_per_tile;  ///< rows that one warp of the full pass hashes
  std::uint8_t page_shift;     ///< a row's page is `row >> page_shift`; kNoShift: `row / page_size`
};
static_assert(sizeof(CacheDescriptor) == 64);

/// Page of a row; `row` counts from the cache's row 0.
GRAPHSAN_HOST_DEVICE inline std::uint32_t page_of(const CacheDescriptor& cache, std::uint32_t row) {
  return cache.page_shift != kNoShift ? row >> cache.page_shift
                                      : row / static_cast<std::uint32_t>(cache.page_size);
}

/// Address of head 0 of a row; `row` counts from the cache's row 0.
GRAPHSAN_HOST_DEVICE inline std::byte* row_address(const CacheDescriptor& cache, std::int64_t row) {
  const auto number = static_cast<std::uint32_t>(row);
  const std::uint32_t page = page_of(cache, number);
  const std::uint32_t slot = number - page * static_cast<std::uint32_t>(cache.page_size);
  return cache.base + static_cast<std::int64_t>(page) * cache.page_stride +
         static_cast<std::int64_t>(slot) * cache.slot_stride;
}

/// Logical bytes of a row.
GRAPHSAN_HOST_DEVICE inline std::int32_t row_bytes(const CacheDescriptor& cache) {
  return cache.heads * cache.run_bytes;
}

/// Offset of logical byte `byte` of a row from the row's address.
GRAPHSAN_HOST_DEVICE inline std::int64_t byte_offset(const CacheDescriptor& cache,
                                                     std::uint32_t byte) {
  if (cache.contiguous != 0) return byte;
  const std::uint32_t run_bytes = static_cast<std::uint32_t>(cache.run_bytes);
  const std::uint32_t head = byte / run_bytes;
  return head * cache.head_stride + (byte - head * run_bytes);
}

/// Index i with `first[i] <= value < first[i + 1]`; `first` ascends, has `count` + 1 entries, and
/// `value` lies within them. Of entries that are equal (empty caches) the last one counts.
GRAPHSAN_HOST_DEVICE inline std::int32_t find_cache(const std::int64_t* first, std::int32_t count,
                                                    std::int64_t value) {
  std::int32_t low = 0;
  std::int32_t high = count;
  while (high - low > 1) {
    const std::int32_t middle = (low + high) / 2;
    if (first[middle] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace graphsan::kvcache
