#include <gtest/gtest.h>

#include <set>

#include "model/cache_layout.hpp"
#include "model/digest.hpp"

namespace graphsan::model {
namespace {

/// 3 pages of 4 slots, 2 heads of 5 bf16 elements: runs of 10 bytes.
CacheLayout layout_with(std::int64_t page, std::int64_t slot, std::int64_t head) {
  CacheLayout layout;
  layout.dtype = DType::kBf16;
  layout.pages = 3;
  layout.page_size = 4;
  layout.heads = 2;
  layout.dim = 5;
  layout.page_stride = page;
  layout.slot_stride = slot;
  layout.head_stride = head;
  return layout;
}

/// Offsets of all runs, from the definition: the run of (page, slot, head).
std::set<std::int64_t> all_offsets(const CacheLayout& layout) {
  std::set<std::int64_t> offsets;
  for (std::int64_t row = 0; row < layout.rows(); ++row) {
    for (std::int64_t head = 0; head < layout.heads; ++head) {
      offsets.insert(layout.run_offset(row, head));
    }
  }
  return offsets;
}

TEST(CacheLayout, CountsRowsAndBytes) {
  const CacheLayout layout = layout_with(80, 20, 10);
  EXPECT_EQ(layout.rows(), 12);
  EXPECT_EQ(layout.run_bytes(), 10);
  EXPECT_EQ(layout.row_bytes(), 20);
  EXPECT_EQ(layout.page_of(7), 1);
  EXPECT_EQ(layout.slot_of(7), 3);
}

TEST(CacheLayout, PlacesNhdRunsOneAfterAnother) {
  const CacheLayout layout = layout_with(80, 20, 10);
  EXPECT_EQ(layout.run_offset(0, 1), 10);
  EXPECT_EQ(layout.run_offset(6, 1), 80 + 2 * 20 + 10);
  EXPECT_EQ(all_offsets(layout).size(), 24U);
  EXPECT_EQ(*all_offsets(layout).rbegin(), 230);
}

TEST(CacheLayout, PlacesHndHeadsAPageApart) {
  const CacheLayout layout = layout_with(80, 10, 40);
  EXPECT_EQ(layout.run_offset(0, 1), 40);
  EXPECT_EQ(layout.run_offset(6, 1), 80 + 2 * 10 + 40);
  EXPECT_EQ(all_offsets(layout), all_offsets(layout_with(80, 20, 10)));
}

TEST(CacheLayout, LeavesTheGapsOfInterleavedKeysAndValues) {
  const CacheLayout keys = layout_with(160, 40, 10);
  EXPECT_EQ(keys.run_offset(5, 0), 160 + 40);
  const std::set<std::int64_t> offsets = all_offsets(keys);
  for (const std::int64_t offset : offsets) {
    EXPECT_EQ(offsets.count(offset + 20), 0U) << "values lie 20 bytes behind keys";
  }
}

TEST(CacheLayout, KnowsItsSinks) {
  CacheLayout layout = layout_with(80, 20, 10);
  layout.sinks = {{0, 4}, {11, 12}};
  EXPECT_TRUE(layout.is_sink(0));
  EXPECT_TRUE(layout.is_sink(3));
  EXPECT_FALSE(layout.is_sink(4));
  EXPECT_TRUE(layout.is_sink(11));
  EXPECT_FALSE(layout.is_sink(12));
}

TEST(Digest, PrintsSixteenLowerCaseDigits) {
  EXPECT_EQ(to_hex({0x00ab00000000cdefULL}), "00ab00000000cdef");
  EXPECT_EQ(to_hex({0}), "0000000000000000");
}

}  // namespace
}  // namespace graphsan::model
