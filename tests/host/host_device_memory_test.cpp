#include <gmock/gmock.h>

#include "device/host/arena.hpp"
#include "tests/support/host_device_test.hpp"

namespace graphsan::test {
namespace {

using device::host::Arena;
using ::testing::HasSubstr;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(HostMemory, NamesItselfASimulation) {
  const auto device = device::make_host_device({.memory_bytes = kMegabyte});
  EXPECT_EQ(device->properties().kind, device::DeviceKind::kHost);
  EXPECT_THAT(device->properties().name, HasSubstr("host simulation ("));
  EXPECT_EQ(device->properties().total_memory, kMegabyte);
  EXPECT_EQ(device->properties().compute_major, 0);
  EXPECT_FALSE(device->properties().native_fp8);
}

TEST(HostMemory, CountsWhatIsFree) {
  const auto device = device::make_host_device({.memory_bytes = kMegabyte});
  EXPECT_EQ(device->free_memory(), kMegabyte);
  {
    const device::Buffer buffer{*device, 300};
    EXPECT_EQ(device->free_memory(), kMegabyte - 512);
    const device::Buffer pinned{*device, 300, device::MemoryKind::kPinnedHost};
    EXPECT_EQ(device->free_memory(), kMegabyte - 512);
  }
  EXPECT_EQ(device->free_memory(), kMegabyte);
}

TEST(HostMemory, SaysHowMuchWasAskedForAndHowMuchThereIs) {
  const auto device = device::make_host_device({.memory_bytes = kMegabyte});
  const device::Buffer half{*device, kMegabyte / 2};
  try {
    static_cast<void>(device->allocate(kMegabyte, device::MemoryKind::kDevice));
    FAIL() << "more than there is was allocated";
  } catch (const device::DeviceError& error) {
    EXPECT_EQ(error.kind(), device::ErrorKind::kOutOfMemory);
    EXPECT_THAT(error.what(), HasSubstr("1048576 bytes asked for, 524288 of 1048576 free"));
  }
}

TEST(HostMemory, RefusesADeviceWithoutMemory) {
  EXPECT_THROW(static_cast<void>(device::make_host_device({.memory_bytes = 0})),
               device::DeviceError);
}

TEST(Arena, KeepsTheBytesOfAReleasedPieceReadable) {
  Arena arena{kMegabyte};
  auto* word = static_cast<std::uint64_t*>(arena.take(8));
  *word = 42;
  ASSERT_TRUE(arena.release(word));
  EXPECT_EQ(*word, 42U);
}

TEST(Arena, HandsAReleasedPieceOutAgain) {
  Arena arena{kMegabyte};
  void* first = arena.take(512);
  void* second = arena.take(512);
  ASSERT_TRUE(arena.release(first));
  EXPECT_EQ(arena.take(300), first);
  EXPECT_NE(second, first);
}

TEST(Arena, MergesReleasedNeighboursInAnyOrder) {
  Arena arena{3 * Arena::kAlignment};
  void* pieces[] = {arena.take(256), arena.take(256), arena.take(256)};
  EXPECT_EQ(arena.take(1), nullptr);
  EXPECT_TRUE(arena.release(pieces[0]));
  EXPECT_TRUE(arena.release(pieces[2]));
  EXPECT_EQ(arena.largest_free(), 256U);
  EXPECT_TRUE(arena.release(pieces[1]));
  EXPECT_EQ(arena.largest_free(), 768U);
  EXPECT_EQ(arena.take(768), pieces[0]);
}

TEST(Arena, ReleasesOnlyWhatItHandedOut) {
  Arena arena{kMegabyte};
  auto* piece = static_cast<std::byte*>(arena.take(512));
  int elsewhere = 0;
  EXPECT_FALSE(arena.release(piece + 256));
  EXPECT_FALSE(arena.release(&elsewhere));
  EXPECT_TRUE(arena.release(piece));
  EXPECT_FALSE(arena.release(piece));
}

TEST(Arena, KnowsItsOwnAddresses) {
  Arena arena{kMegabyte};
  auto* begin = static_cast<std::byte*>(arena.take(kMegabyte));
  EXPECT_TRUE(arena.contains(begin));
  EXPECT_TRUE(arena.contains(begin + kMegabyte - 1));
  EXPECT_FALSE(arena.contains(begin + kMegabyte));
  EXPECT_FALSE(arena.contains(nullptr));
}

}  // namespace
}  // namespace graphsan::test
