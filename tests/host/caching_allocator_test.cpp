#include "device/caching_allocator.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "device/host/host_device.hpp"

namespace graphsan::device {
namespace {

constexpr std::size_t kSegment = 8192;

class CachingAllocatorTest : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_host_device({.memory_bytes = std::size_t{1} << 20});
  CachingAllocator allocator_{*device_, kSegment};
};

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

TEST_F(CachingAllocatorTest, RoundsBlocksTo512Bytes) {
  void* small = allocator_.allocate(1);
  void* large = allocator_.allocate(513);
  EXPECT_EQ(allocator_.find(number(small))->bytes, 512U);
  EXPECT_EQ(allocator_.find(number(large))->bytes, 1024U);
  EXPECT_EQ(number(large) - number(small), 512U);
}

TEST_F(CachingAllocatorTest, HandsTheBlockFreedLastToTheNextRequestOfItsSize) {
  void* first = allocator_.allocate(512);
  void* second = allocator_.allocate(512);
  static_cast<void>(allocator_.allocate(512));
  allocator_.free(second);
  allocator_.free(first);
  EXPECT_EQ(allocator_.allocate(500), first);
  EXPECT_EQ(allocator_.allocate(500), second);
}

TEST_F(CachingAllocatorTest, PrefersTheSmallestBlockThatFits) {
  void* large = allocator_.allocate(4096);
  void* small = allocator_.allocate(1024);
  static_cast<void>(allocator_.allocate(512));
  allocator_.free(small);
  allocator_.free(large);
  EXPECT_EQ(allocator_.allocate(1024), small);
}

TEST_F(CachingAllocatorTest, SplitsABlockThatIsLargerThanAsked) {
  void* large = allocator_.allocate(4096);
  static_cast<void>(allocator_.allocate(4096));
  allocator_.free(large);
  EXPECT_EQ(allocator_.allocate(512), large);
  const auto rest = allocator_.find(number(large) + 512);
  ASSERT_TRUE(rest.has_value());
  EXPECT_FALSE(rest->live);
  EXPECT_EQ(rest->bytes, 3584U);
}

TEST_F(CachingAllocatorTest, MergesFreeBlocksBeforeItTakesMoreFromTheDevice) {
  void* first = allocator_.allocate(4096);
  void* second = allocator_.allocate(4096);
  const std::size_t free_memory = device_->free_memory();
  allocator_.free(first);
  allocator_.free(second);
  EXPECT_EQ(allocator_.allocate(8192), first);
  EXPECT_EQ(device_->free_memory(), free_memory);
}

TEST_F(CachingAllocatorTest, DoesNotMergeBlocksOfDifferentSegments) {
  void* first = allocator_.allocate(kSegment);
  void* second = allocator_.allocate(kSegment);
  ASSERT_EQ(number(second), number(first) + kSegment) << "the segments must be neighbours here";
  allocator_.free(first);
  allocator_.free(second);
  void* large = allocator_.allocate(2 * kSegment);
  EXPECT_NE(large, first);
}

TEST_F(CachingAllocatorTest, ReturnsNothingToTheDeviceBeforeItsEnd) {
  const std::size_t before = device_->free_memory();
  {
    CachingAllocator brief{*device_, kSegment};
    void* block = brief.allocate(100);
    brief.free(block);
    EXPECT_EQ(device_->free_memory(), before - kSegment);
  }
  EXPECT_EQ(device_->free_memory(), before);
}

TEST_F(CachingAllocatorTest, TakesASegmentOfItsOwnForALargeRequest) {
  const std::size_t before = device_->free_memory();
  void* large = allocator_.allocate(3 * kSegment - 100);
  EXPECT_EQ(allocator_.find(number(large))->bytes, 3 * kSegment);
  EXPECT_EQ(device_->free_memory(), before - 3 * kSegment);
}

TEST_F(CachingAllocatorTest, RefusesToFreeWhatIsNotLive) {
  void* block = allocator_.allocate(512);
  allocator_.free(block);
  EXPECT_THROW(allocator_.free(block), DeviceError);
  EXPECT_THROW(allocator_.free(static_cast<std::byte*>(block) + 512), DeviceError);
  EXPECT_THROW(allocator_.free(nullptr), DeviceError);
}

TEST_F(CachingAllocatorTest, KeepsPoolsApart) {
  const PoolId pool = allocator_.create_pool();
  allocator_.begin_pool(pool);
  void* pooled = allocator_.allocate(512);
  allocator_.end_pool();
  allocator_.free(pooled);
  EXPECT_NE(allocator_.allocate(512), pooled);
  allocator_.begin_pool(pool);
  EXPECT_EQ(allocator_.allocate(512), pooled);
  allocator_.end_pool();
  EXPECT_EQ(allocator_.find(number(pooled))->pool, pool);
}

TEST_F(CachingAllocatorTest, GivesAPoolsFreedBlockToTheNextGraphOfThePool) {
  const PoolId pool = allocator_.create_pool();
  allocator_.begin_pool(pool);
  void* top_k = allocator_.allocate(512);
  allocator_.free(top_k);
  allocator_.end_pool();
  allocator_.begin_pool(pool);
  EXPECT_EQ(allocator_.allocate(512), top_k);
  allocator_.end_pool();
}

TEST_F(CachingAllocatorTest, RefusesUnknownNestedAndUnmatchedPools) {
  EXPECT_THROW(allocator_.begin_pool(PoolId{}), DeviceError);
  EXPECT_THROW(allocator_.begin_pool(PoolId{1}), DeviceError);
  EXPECT_THROW(allocator_.end_pool(), DeviceError);
  const PoolId pool = allocator_.create_pool();
  allocator_.begin_pool(pool);
  EXPECT_THROW(allocator_.begin_pool(pool), DeviceError);
}

TEST_F(CachingAllocatorTest, GrowsDuringAThreadLocalCaptureWithoutSpoilingIt) {
  const Stream stream = device_->create_stream();
  device_->begin_capture(stream.get(), CaptureMode::kThreadLocal);
  EXPECT_NE(allocator_.allocate(3 * kSegment), nullptr);
  EXPECT_EQ(device_->capture_status(stream.get()), CaptureStatus::kActive);
  EXPECT_THROW(static_cast<void>(device_->allocate(64, MemoryKind::kDevice)), DeviceError)
      << "the thread's mode must be back to what it was";
}

TEST_F(CachingAllocatorTest, CountsAnEpochForEachAllocationAndFree) {
  EXPECT_EQ(allocator_.epoch(), 0U);
  void* block = allocator_.allocate(512);
  EXPECT_EQ(allocator_.find(number(block))->allocated_epoch, 1U);
  EXPECT_EQ(allocator_.find(number(block))->freed_epoch, 0U);
  allocator_.free(block);
  EXPECT_EQ(allocator_.find(number(block))->freed_epoch, 2U);
  static_cast<void>(allocator_.allocate(512));
  EXPECT_EQ(allocator_.find(number(block))->allocated_epoch, 3U);
  EXPECT_EQ(allocator_.find(number(block))->freed_epoch, 0U);
  EXPECT_EQ(allocator_.epoch(), 3U);
}

TEST_F(CachingAllocatorTest, ListsBlocksByAddressWithoutGapsInASegment) {
  static_cast<void>(allocator_.allocate(512));
  allocator_.free(allocator_.allocate(1024));
  const auto blocks = allocator_.snapshot();
  ASSERT_GE(blocks.size(), 2U);
  std::size_t total = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    total += blocks[i].bytes;
    if (i == 0) continue;
    EXPECT_EQ(blocks[i].address, blocks[i - 1].address + blocks[i - 1].bytes);
  }
  EXPECT_EQ(total, kSegment);
  EXPECT_TRUE(blocks[0].live);
  EXPECT_FALSE(blocks[1].live);
}

TEST_F(CachingAllocatorTest, FindsTheBlockThatHoldsAnAddress) {
  void* block = allocator_.allocate(1024);
  EXPECT_EQ(allocator_.find(number(block) + 1023)->address, number(block));
  EXPECT_FALSE(allocator_.find(number(block) + kSegment).has_value());
  EXPECT_FALSE(allocator_.find(number(block) - 1).has_value());
}

TEST_F(CachingAllocatorTest, HandsOutNothingFreedWhileKept) {
  void* block = allocator_.allocate(512);
  allocator_.begin_keeping();
  allocator_.free(block);
  EXPECT_FALSE(allocator_.find(number(block))->live);
  EXPECT_NE(allocator_.allocate(512), block);
  allocator_.end_keeping();
  EXPECT_EQ(allocator_.allocate(512), block);
}

TEST_F(CachingAllocatorTest, HandsOutWhatWasFreedBeforeKeepingBegan) {
  void* block = allocator_.allocate(512);
  allocator_.free(block);
  allocator_.begin_keeping();
  EXPECT_EQ(allocator_.allocate(512), block);
  allocator_.free(block);
  EXPECT_NE(allocator_.allocate(512), block) << "it was freed again since";
  allocator_.end_keeping();
}

TEST_F(CachingAllocatorTest, KeepsUntilTheLastKeeperEnds) {
  void* early = allocator_.allocate(512);
  void* late = allocator_.allocate(512);
  allocator_.begin_keeping();
  allocator_.free(early);
  allocator_.begin_keeping();
  allocator_.free(late);
  allocator_.end_keeping();
  for (int i = 0; i < 4; ++i) {
    void* other = allocator_.allocate(512);
    EXPECT_NE(other, early);
    EXPECT_NE(other, late);
  }
  allocator_.end_keeping();
  EXPECT_EQ(allocator_.allocate(512), late);
  EXPECT_EQ(allocator_.allocate(512), early);
}

TEST_F(CachingAllocatorTest, KeepsWhatWasFreedInsideAMergedBlock) {
  // All of one segment is freed, its first block before keeping began.
  void* before = allocator_.allocate(kSegment / 2);
  void* kept = allocator_.allocate(kSegment / 2);
  allocator_.free(before);
  allocator_.begin_keeping();
  allocator_.free(kept);
  void* whole = allocator_.allocate(kSegment);
  EXPECT_TRUE(number(whole) >= number(before) + kSegment || number(whole) < number(before))
      << "neighbours were merged and the kept block handed out";
  EXPECT_EQ(allocator_.allocate(kSegment / 2), before);
  allocator_.end_keeping();
}

TEST_F(CachingAllocatorTest, KeepsBlocksOfAPoolToo) {
  const PoolId pool = allocator_.create_pool();
  allocator_.begin_keeping();
  allocator_.begin_pool(pool);
  void* block = allocator_.allocate(512);
  allocator_.free(block);
  EXPECT_NE(allocator_.allocate(512), block);
  allocator_.end_pool();
  allocator_.end_keeping();
}

TEST_F(CachingAllocatorTest, KeepsForTheLifeOfAKeeper) {
  void* block = allocator_.allocate(512);
  {
    const FreedBlocksKept kept{allocator_};
    allocator_.free(block);
    EXPECT_NE(allocator_.allocate(512), block);
  }
  EXPECT_EQ(allocator_.allocate(512), block);
}

TEST_F(CachingAllocatorTest, TakesATemporaryBackAtTheEndOfItsLife) {
  void* address = nullptr;
  {
    Temporary temporary{allocator_, 512};
    address = temporary.data();
    const Temporary moved{std::move(temporary)};
    EXPECT_EQ(moved.data(), address);
    EXPECT_TRUE(allocator_.find(number(address))->live);
  }
  EXPECT_FALSE(allocator_.find(number(address))->live);
}

}  // namespace
}  // namespace graphsan::device
