#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcache/cache_set.hpp"

namespace graphsan::kvcache {

/// The bytes of a list of rows in logical order, packed one after another on the device: an entry
/// of the redo log.
struct RowPack {
  std::vector<std::int64_t> rows;     ///< global, in the order packed
  std::vector<std::int64_t> offsets;  ///< byte offset of each row; one more than rows
  device::Buffer device_rows;         ///< `rows` on the device
  device::Buffer device_offsets;      ///< `offsets` on the device
  device::Buffer bytes;
};

/// Copies the rows out of the caches. Synchronizes (it uploads the list). Here and below
/// std::out_of_range is thrown for a row that the set does not have.
[[nodiscard]] RowPack pack_rows(device::StreamRef stream, const CacheSet& caches,
                                std::vector<std::int64_t> rows);

/// Writes the packed bytes back into the rows they came from, in any CacheSet with equal rows
/// (strides may differ); std::invalid_argument where it has fewer.
/// Asynchronous; the pack must stay alive until the stream has run.
void unpack_rows(device::StreamRef stream, const CacheSet& caches, const RowPack& pack);

/// The packed bytes on the host, one vector a row in the order packed; synchronizes.
[[nodiscard]] std::vector<std::vector<std::byte>> download(device::StreamRef stream,
                                                           const CacheSet& caches,
                                                           const RowPack& pack);

/// Overwrites the rows with a pattern that is unique for (seed, row) and decodes to small finite
/// values in bf16, e4m3 and e5m2 alike: even bytes are 0x00-0x3F, odd bytes 0x3C or 0x3D.
/// Synchronizes (it uploads the list).
void fill_pattern(device::StreamRef stream, const CacheSet& caches,
                  std::span<const std::int64_t> rows, std::uint64_t seed);

/// The bytes that fill_pattern() writes for one row of `bytes` bytes. Rows of one seed never agree
/// from 8 bytes on (of up to 2^28 rows); rows of two seeds agree by chance only, in 32 bytes one
/// pair in 2^112.
[[nodiscard]] std::vector<std::byte> pattern_bytes(std::int64_t global_row, std::size_t bytes,
                                                   std::uint64_t seed);

/// Copies rows between two CacheSets with equal rows (strides may differ), each row once.
/// Synchronizes (it uploads the list). Throws std::invalid_argument when the rows are not equal.
void copy_rows(device::StreamRef stream, const CacheSet& from, const CacheSet& to,
               std::span<const std::int64_t> rows);

}  // namespace graphsan::kvcache
