#include "model/cache_layout.hpp"

#include <algorithm>

#include "model/enum_words.hpp"

namespace graphsan::model {

std::string_view to_string(CacheKind kind) {
  switch (kind) {
    case CacheKind::kKey:
      return "key";
    case CacheKind::kValue:
      return "value";
    case CacheKind::kIndexKey:
      return "index-key";
    case CacheKind::kScale:
      return "scale";
    case CacheKind::kTopK:
      return "top-k";
    case CacheKind::kOutput:
      return "output";
    case CacheKind::kGuard:
      return "guard";
    case CacheKind::kOther:
      return "other";
  }
  throw_no_enumerator();
}

std::optional<CacheKind> parse_cache_kind(std::string_view word) {
  return parse_word(word, CacheKind::kOther);
}

std::int64_t CacheLayout::run_bytes() const {
  return dim * static_cast<std::int64_t>(byte_size(dtype));
}

std::int64_t CacheLayout::run_offset(std::int64_t row, std::int64_t head) const {
  return page_of(row) * page_stride + slot_of(row) * slot_stride + head * head_stride;
}

bool CacheLayout::is_sink(std::int64_t row) const {
  return std::any_of(sinks.begin(), sinks.end(),
                     [row](const RowRange& range) { return range.contains(row); });
}

}  // namespace graphsan::model
