#include "step/plugin/cache_extent.hpp"

#include <gtest/gtest.h>

namespace graphsan::step::plugin {
namespace {

/// Two pages of three slots, two heads of four f32: runs of 16 bytes.
model::CacheLayout layout(std::int64_t page, std::int64_t slot, std::int64_t head) {
  model::CacheLayout made;
  made.dtype = model::DType::kF32;
  made.pages = 2;
  made.page_size = 3;
  made.heads = 2;
  made.dim = 4;
  made.page_stride = page;
  made.slot_stride = slot;
  made.head_stride = head;
  return made;
}

TEST(CacheExtent, FillsADenseCacheAtOnceInEveryOrder) {
  const std::vector<ByteRange> whole{{0, 192}};
  EXPECT_EQ(byte_ranges(layout(96, 32, 16)), whole);  // NHD
  EXPECT_EQ(byte_ranges(layout(96, 16, 48)), whole);  // HND
  EXPECT_EQ(byte_ranges(layout(48, 16, 96)), whole);  // head-major over all pages
}

TEST(CacheExtent, LeavesOutWhatLiesBetween) {
  EXPECT_EQ(byte_ranges(layout(200, 32, 16)), (std::vector<ByteRange>{{0, 96}, {200, 96}}));
  const std::vector<ByteRange> interleaved = byte_ranges(layout(192, 64, 16));
  EXPECT_EQ(interleaved.size(), 6U);
  EXPECT_EQ(interleaved.front(), (ByteRange{0, 32}));
  EXPECT_EQ(interleaved.back(), (ByteRange{320, 32}));
  EXPECT_EQ(extent(layout(192, 64, 16)), 352);
}

TEST(CacheExtent, SeesRowsThatOverlap) {
  EXPECT_TRUE(runs_lie_apart(layout(96, 32, 16)));
  EXPECT_TRUE(runs_lie_apart(layout(96, 16, 48)));
  EXPECT_FALSE(runs_lie_apart(layout(96, 16, 16)));
  EXPECT_FALSE(runs_lie_apart(layout(80, 32, 16)));
  EXPECT_FALSE(runs_lie_apart(layout(96, 32, 8)));
}

TEST(CacheExtent, ReadsNothingFromAStrideThatIsNeverTaken) {
  model::CacheLayout one = layout(0, 32, 16);
  one.pages = 1;
  EXPECT_TRUE(runs_lie_apart(one));
  EXPECT_EQ(byte_ranges(one), (std::vector<ByteRange>{{0, 96}}));
}

}  // namespace
}  // namespace graphsan::step::plugin
