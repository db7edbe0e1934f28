#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "kvcache/cache_descriptor.hpp"
#include "model/cache_layout.hpp"

namespace graphsan::kvcache {

/// A cache in memory: a layout and the address of row 0, head 0. Borrowed.
struct CacheView {
  model::CacheLayout layout;
  void* base = nullptr;
};

/// All declared caches of a step as one numbering of rows: cache 0's rows first, then cache 1's ...
///
/// Construction uploads the descriptors and synchronizes `stream`; the memory that the views name
/// is borrowed and must outlive the set. Throws std::invalid_argument, naming the cache, for a
/// layout with no heads, no bytes or no slots, or with 2^31 rows or more.
class CacheSet {
 public:
  CacheSet(device::Device& device, device::StreamRef stream, std::vector<CacheView> views);

  [[nodiscard]] device::Device& device() const { return *device_; }
  [[nodiscard]] const std::vector<CacheView>& views() const { return views_; }
  [[nodiscard]] std::int64_t rows() const { return first_rows_.back(); }
  [[nodiscard]] std::int64_t bytes() const;  ///< logical bytes of all rows
  [[nodiscard]] std::int64_t first_row(int cache) const { return first_rows_[cache]; }
  /// Cache that a global row belongs to.
  [[nodiscard]] int cache_of(std::int64_t global_row) const;
  [[nodiscard]] std::int64_t global_row(int cache, std::int64_t row) const {
    return first_rows_[cache] + row;
  }
  /// The row is one where writes do not matter.
  [[nodiscard]] bool is_sink(std::int64_t global_row) const;
  /// Device array of views().size() descriptors.
  [[nodiscard]] const CacheDescriptor* descriptors() const {
    return tables_.as<const CacheDescriptor>();
  }
  /// The same on the host.
  [[nodiscard]] std::span<const CacheDescriptor> host_descriptors() const {
    return host_descriptors_;
  }
  /// Device array of views().size() + 1 entries: each cache's first global row, then rows().
  [[nodiscard]] const std::int64_t* device_first_rows() const;
  /// Device array of views().size() + 1 entries: each cache's first tile of the full hashing pass,
  /// then tiles(). A tile is the rows_per_tile rows that one warp hashes.
  [[nodiscard]] const std::int64_t* device_first_tiles() const;
  [[nodiscard]] std::int64_t tiles() const { return tiles_; }
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(views_.size()); }

 private:
  device::Device* device_;
  std::vector<CacheView> views_;
  std::vector<std::int64_t> first_rows_;  ///< one more than views; the last is the total
  std::vector<CacheDescriptor> host_descriptors_;
  std::int64_t tiles_ = 0;
  device::Buffer tables_;  ///< descriptors, first rows, first tiles
};

}  // namespace graphsan::kvcache
