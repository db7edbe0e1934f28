#include "kvcache/cache_set.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "kvcache/row_path.hpp"

namespace graphsan::kvcache {
namespace {

constexpr std::int64_t kRowLimit = std::numeric_limits<std::int32_t>::max();

void check_layout(const CacheView& view) {
  const model::CacheLayout& layout = view.layout;
  const auto refuse = [&](const char* reason) {
    throw std::invalid_argument{"cache \"" + layout.name + "\" " + reason};
  };
  if (layout.heads <= 0 || layout.run_bytes() <= 0) refuse("has rows of no bytes");
  if (layout.page_size <= 0 || layout.pages < 0) refuse("has pages of no slots");
  if (layout.page_size > kRowLimit || layout.pages > kRowLimit / layout.page_size) {
    refuse("has 2^31 rows or more");
  }
  if (layout.heads > kRowLimit / layout.run_bytes()) refuse("has rows of 2 GiB or more");
  if (view.base == nullptr && layout.pages > 0) refuse("has no address");
}

/// Chooses how a row's page is found. Pages that follow each other without a gap are one page.
void set_pages(CacheDescriptor& cache) {
  const bool gapless = cache.page_stride == cache.page_size * cache.slot_stride;
  if (cache.rows <= cache.page_size || gapless) {
    cache.page_size = static_cast<std::int32_t>(cache.rows);
    cache.page_shift = 31;
    return;
  }
  const auto slots = static_cast<std::uint32_t>(cache.page_size);
  cache.page_shift =
      std::has_single_bit(slots) ? static_cast<std::uint8_t>(std::countr_zero(slots)) : kNoShift;
}

CacheDescriptor describe(const CacheView& view, std::int64_t first_row) {
  const model::CacheLayout& layout = view.layout;
  CacheDescriptor cache{};
  cache.base = static_cast<std::byte*>(view.base);
  cache.first_row = first_row;
  cache.rows = layout.rows();
  cache.page_stride = layout.page_stride;
  cache.slot_stride = layout.slot_stride;
  cache.head_stride = layout.head_stride;
  cache.page_size = static_cast<std::int32_t>(layout.page_size);
  cache.heads = static_cast<std::int32_t>(layout.heads);
  cache.run_bytes = static_cast<std::int32_t>(layout.run_bytes());
  cache.contiguous = layout.heads == 1 || layout.head_stride == layout.run_bytes() ? 1 : 0;
  set_pages(cache);
  choose_path(cache);
  return cache;
}

}  // namespace

CacheSet::CacheSet(device::Device& device, device::StreamRef stream, std::vector<CacheView> views)
    : device_{&device}, views_{std::move(views)}, first_rows_{0} {
  std::vector<std::int64_t> starts;
  for (const CacheView& view : views_) {
    check_layout(view);
    const CacheDescriptor cache = describe(view, first_rows_.back());
    host_descriptors_.push_back(cache);
    first_rows_.push_back(first_rows_.back() + cache.rows);
    starts.push_back(tiles_);
    tiles_ += (cache.rows + cache.rows_per_tile - 1) / cache.rows_per_tile;
  }
  starts.push_back(tiles_);
  starts.insert(starts.begin(), first_rows_.begin(), first_rows_.end());

  const std::size_t descriptor_bytes = host_descriptors_.size() * sizeof(CacheDescriptor);
  const std::size_t start_bytes = starts.size() * sizeof(std::int64_t);
  tables_ = device::Buffer{device, descriptor_bytes + start_bytes};
  auto* const address = tables_.as<std::byte>();
  if (descriptor_bytes > 0) {
    device.copy(stream, address, host_descriptors_.data(), descriptor_bytes);
  }
  device.copy(stream, address + descriptor_bytes, starts.data(), start_bytes);
  device.synchronize(stream);
}

std::int64_t CacheSet::bytes() const {
  std::int64_t total = 0;
  for (const CacheView& view : views_) total += view.layout.rows() * view.layout.row_bytes();
  return total;
}

int CacheSet::cache_of(std::int64_t global_row) const {
  if (global_row < 0 || global_row >= rows()) {
    throw std::out_of_range{"row " + std::to_string(global_row) + " of " + std::to_string(rows())};
  }
  return find_cache(first_rows_.data(), count(), global_row);
}

bool CacheSet::is_sink(std::int64_t global_row) const {
  const int cache = cache_of(global_row);
  return views_[static_cast<std::size_t>(cache)].layout.is_sink(global_row - first_row(cache));
}

const std::int64_t* CacheSet::device_first_rows() const {
  return reinterpret_cast<const std::int64_t*>(tables_.as<const CacheDescriptor>() + count());
}

const std::int64_t* CacheSet::device_first_tiles() const {
  return device_first_rows() + count() + 1;
}

}  // namespace graphsan::kvcache
