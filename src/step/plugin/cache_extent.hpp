#pragma once

#include <cstdint>
#include <vector>

#include "model/cache_layout.hpp"

namespace graphsan::step::plugin {

/// Bytes from row 0, head 0 to the end of the last run.
[[nodiscard]] std::int64_t extent(const model::CacheLayout& layout);

/// Whether no byte belongs to two runs. Each stride must step over all that smaller strides reach:
/// layouts that interleave in another way count as overlapping.
[[nodiscard]] bool runs_lie_apart(const model::CacheLayout& layout);

/// Bytes from row 0, head 0 on.
struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The bytes that belong to a layout whose runs lie apart, in as few ranges as its strides allow,
/// by offset.
[[nodiscard]] std::vector<ByteRange> byte_ranges(const model::CacheLayout& layout);

}  // namespace graphsan::step::plugin
