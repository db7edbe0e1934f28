#include "step/plugin/cache_extent.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace graphsan::step::plugin {

namespace {

struct Dimension {
  std::int64_t count = 1;
  std::int64_t stride = 0;
};

/// Pages, slots and heads, those that lie closest first.
std::array<Dimension, 3> dimensions(const model::CacheLayout& layout) {
  std::array<Dimension, 3> all{{{layout.heads, layout.head_stride},
                                {layout.page_size, layout.slot_stride},
                                {layout.pages, layout.page_stride}}};
  // A stride that is never taken says nothing.
  const auto step = [](const Dimension& one) { return one.count == 1 ? 0 : one.stride; };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Dimension& a, const Dimension& b) { return step(a) < step(b); });
  return all;
}

}  // namespace

std::int64_t extent(const model::CacheLayout& layout) {
  return layout.run_offset(layout.rows() - 1, layout.heads - 1) + layout.run_bytes();
}

bool runs_lie_apart(const model::CacheLayout& layout) {
  std::int64_t reach = layout.run_bytes();
  for (const Dimension& one : dimensions(layout)) {
    if (one.count == 1) continue;
    if (one.stride < reach) return false;
    reach += (one.count - 1) * one.stride;
  }
  return true;
}

std::vector<ByteRange> byte_ranges(const model::CacheLayout& layout) {
  std::vector<ByteRange> ranges{{0, layout.run_bytes()}};
  for (const Dimension& one : dimensions(layout)) {
    if (one.count == 1) continue;
    if (ranges.size() == 1 && ranges.front().bytes == one.stride) {
      ranges.front().bytes *= one.count;
      continue;
    }
    const std::vector<ByteRange> inner = std::move(ranges);
    ranges.clear();
    for (std::int64_t i = 0; i < one.count; ++i) {
      for (const ByteRange& range : inner) {
        ranges.push_back({range.offset + i * one.stride, range.bytes});
      }
    }
  }
  return ranges;
}

}  // namespace graphsan::step::plugin
