#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/buffer.hpp"
#include "kvcache/cache_set.hpp"

namespace graphsan::run {

/// A copy of all memory that a CacheSet spans, readable as a CacheSet of the same layouts.
class PoolSnapshot {
 public:
  /// Allocates the copy; synchronizes `stream`.
  PoolSnapshot(device::StreamRef stream, const kvcache::CacheSet& caches);
  /// Copies the memory as it is now; asynchronous.
  void take(device::StreamRef stream);
  [[nodiscard]] const kvcache::CacheSet& caches() const { return *copy_; }

 private:
  struct Region {
    std::byte* begin;
    std::size_t bytes;
    device::Buffer copy;
  };
  device::Device* device_;
  std::vector<Region> regions_;
  std::unique_ptr<kvcache::CacheSet> copy_;
};

}  // namespace graphsan::run
