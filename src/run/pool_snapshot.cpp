#include "run/pool_snapshot.hpp"

#include <algorithm>
#include <utility>

namespace graphsan::run {

namespace {

/// Bytes from the address of row 0 to the end of the last run.
std::size_t span_bytes(const model::CacheLayout& layout) {
  if (layout.rows() == 0) return 0;
  return static_cast<std::size_t>(layout.run_offset(layout.rows() - 1, layout.heads - 1) +
                                  layout.run_bytes());
}

}  // namespace

PoolSnapshot::PoolSnapshot(device::StreamRef stream, const kvcache::CacheSet& caches)
    : device_{&caches.device()} {
  // K and V often interleave in one buffer: overlapping spans are one region.
  std::vector<std::pair<std::byte*, std::byte*>> spans;
  for (const kvcache::CacheView& view : caches.views()) {
    auto* begin = static_cast<std::byte*>(view.base);
    spans.emplace_back(begin, begin + span_bytes(view.layout));
  }
  std::sort(spans.begin(), spans.end());
  for (const auto& [begin, end] : spans) {
    if (!regions_.empty() && begin < regions_.back().begin + regions_.back().bytes) {
      Region& last = regions_.back();
      last.bytes = std::max(last.bytes, static_cast<std::size_t>(end - last.begin));
    } else {
      regions_.push_back({begin, static_cast<std::size_t>(end - begin), {}});
    }
  }
  for (Region& region : regions_) {
    region.copy = device::Buffer{*device_, std::max<std::size_t>(1, region.bytes)};
  }
  std::vector<kvcache::CacheView> views = caches.views();
  for (kvcache::CacheView& view : views) {
    auto* base = static_cast<std::byte*>(view.base);
    for (const Region& region : regions_) {
      if (base >= region.begin && base < region.begin + region.bytes) {
        view.base = region.copy.as<std::byte>() + (base - region.begin);
        break;
      }
    }
  }
  copy_ = std::make_unique<kvcache::CacheSet>(*device_, stream, std::move(views));
}

void PoolSnapshot::take(device::StreamRef stream) {
  for (const Region& region : regions_) {
    device_->copy(stream, region.copy.data(), region.begin, region.bytes);
  }
}

}  // namespace graphsan::run
