#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dtype.hpp"

namespace graphsan::model {

/// What a declared buffer holds. `kGuard` rows surround memory that GraphSan allocated; nobody may
/// write them.
enum class CacheKind : std::uint8_t {
  kKey,
  kValue,
  kIndexKey,
  kScale,
  kTopK,
  kOutput,
  kGuard,
  kOther
};

/// The word used in reports: `key`, `value`, `index-key`, `scale`, `top-k`, `output`, `guard`,
/// `other`.
[[nodiscard]] std::string_view to_string(CacheKind kind);
[[nodiscard]] std::optional<CacheKind> parse_cache_kind(std::string_view word);

/// Half-open range of rows of one cache.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] bool contains(std::int64_t row) const { return row >= begin && row < end; }
};

/// Where the rows of one cache lie: pages × slots × heads × dim, the last dimension contiguous.
///
/// A row is one slot: `heads` runs of `dim` elements. Its number is `page * page_size + slot`, the
/// number that a slot mapping holds. Strides are in bytes and relative to the address of row 0,
/// head 0, so NHD, HND and interleaved K|V are all the same type.
struct CacheLayout {
  std::string name;  ///< unique within a step, such as `layer 1 index-key`
  CacheKind kind = CacheKind::kOther;
  int layer = 0;
  DType dtype = DType::kU8;
  std::int64_t pages = 0;
  std::int64_t page_size = 0;  ///< slots of a page
  std::int64_t heads = 0;
  std::int64_t dim = 0;  ///< elements of one head
  std::int64_t page_stride = 0;
  std::int64_t slot_stride = 0;
  std::int64_t head_stride = 0;
  std::vector<RowRange> sinks;  ///< rows where writes do not matter: counted, never a finding

  [[nodiscard]] std::int64_t rows() const { return pages * page_size; }
  [[nodiscard]] std::int64_t run_bytes() const;  ///< bytes of one head's run
  [[nodiscard]] std::int64_t row_bytes() const { return heads * run_bytes(); }
  [[nodiscard]] std::int64_t page_of(std::int64_t row) const { return row / page_size; }
  [[nodiscard]] std::int64_t slot_of(std::int64_t row) const { return row % page_size; }
  /// Byte offset of one head's run from the address of row 0, head 0.
  [[nodiscard]] std::int64_t run_offset(std::int64_t row, std::int64_t head) const;
  [[nodiscard]] bool is_sink(std::int64_t row) const;
};

/// Which token a row belongs to; the identity that two processes share although their pages differ.
struct LogicalRow {
  int sequence = -1;
  std::int64_t position = -1;
  int layer = 0;
  CacheKind kind = CacheKind::kOther;
  friend bool operator==(const LogicalRow&, const LogicalRow&) = default;
};

}  // namespace graphsan::model
