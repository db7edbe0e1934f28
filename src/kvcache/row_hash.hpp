#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvcache/cache_set.hpp"
#include "model/digest.hpp"

namespace graphsan::kvcache {

/// Digests of all rows of a CacheSet in global row order, on the device; undefined until hashed.
class DigestTable {
 public:
  /// Rows that differing_rows() can list without allocating.
  static constexpr std::int64_t kScratchRows = 8191;

  DigestTable(device::Device& device, std::int64_t rows)
      : buffer_{device,
                (static_cast<std::size_t>(rows) + kScratchRows + 1) * sizeof(std::uint64_t)},
        rows_{rows} {}
  [[nodiscard]] std::uint64_t* data() const { return buffer_.as<std::uint64_t>(); }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// 1 + kScratchRows words behind the digests, for differing_rows().
  [[nodiscard]] std::uint64_t* compare_scratch() const { return data() + rows_; }

 private:
  device::Buffer buffer_;
  std::int64_t rows_;
};

/// Hashes every row of every cache in one launch; asynchronous.
void hash_all(device::StreamRef stream, const CacheSet& caches, DigestTable& digests);

/// Hashes the named rows in one launch and updates only their entries. `rows` is a device array of
/// `count` global row numbers; entries that name no row (below 0, or beyond the last) are skipped.
/// Asynchronous.
void hash_rows(device::StreamRef stream, const CacheSet& caches, const std::int64_t* rows,
               std::int64_t count, DigestTable& digests);

/// Copies digests to the host; synchronizes.
[[nodiscard]] std::vector<model::Digest> download(device::Device& device, device::StreamRef stream,
                                                  const DigestTable& digests);

/// XXH3-64 of one row's logical bytes, by libxxhash.
[[nodiscard]] model::Digest row_digest(std::span<const std::byte> bytes);

/// XXH3-64 of each page's row digests as little-endian words in slot order. `digests` are one
/// cache's rows in order; its size is a multiple of `page_size`.
[[nodiscard]] std::vector<model::Digest> page_digests(std::span<const model::Digest> digests,
                                                      std::int64_t page_size);

/// XXH3-64 of a cache's page digests in page order.
[[nodiscard]] model::Digest cache_digest(std::span<const model::Digest> page_digests);

/// Caches whose rows take the slower hashing path on CUDA (a run that is shorter than 64 bytes, no
/// multiple of 64, or not 16-byte aligned; a contiguous row counts as one run), each with the
/// reason in words: `layer 0 key: runs of 48 bytes are shorter than 64 bytes`.
[[nodiscard]] std::vector<std::string> slow_path_notes(const CacheSet& caches);

}  // namespace graphsan::kvcache
