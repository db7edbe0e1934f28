#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "model/cache_layout.hpp"

namespace graphsan::kvcache {

/// A cache in memory: a layout and the address of row 0, head 0. Borrowed.
struct CacheView {
  model::CacheLayout layout;
  void* base = nullptr;
};

/// Device form of a CacheView, 64 bytes, read by every kernel of this module.
struct CacheDescriptor {
  std::byte* base;
  std::int64_t first_row;  ///< global number of the cache's row 0
  std::int64_t rows;
  std::int64_t page_stride;
  std::int64_t slot_stride;
  std::int64_t head_stride;
  std::int32_t page_size;
  std::int32_t heads;
  std::int32_t run_bytes;
  std::int32_t contiguous;  ///< 1: the runs of a row follow each other, so a row is one run
};

/// All declared caches of a step as one numbering of rows: cache 0's rows first, then cache 1's ...
///
/// Construction uploads the descriptors and synchronizes `stream`; the memory that the views name
/// is borrowed and must outlive the set.
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
  /// Device array of views().size() descriptors.
  [[nodiscard]] const CacheDescriptor* descriptors() const {
    return descriptors_.as<const CacheDescriptor>();
  }

 private:
  device::Device* device_;
  std::vector<CacheView> views_;
  std::vector<std::int64_t> first_rows_;  ///< one more than views; the last is the total
  device::Buffer descriptors_;
};

}  // namespace graphsan::kvcache
