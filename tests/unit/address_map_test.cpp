#include "device/address_map.hpp"

#include <gtest/gtest.h>

namespace graphsan::device {
namespace {

TEST(AddressMap, KnowsNothingOfAnAddressThatWasNeverAdded) {
  const AddressMap map;
  const OwnedRange found = map.resolve(0x1000, 0);
  EXPECT_EQ(found.owner, Owner::kUnknown);
  EXPECT_TRUE(found.name.empty());
}

TEST(AddressMap, ResolvesFromTheFirstToTheLastByteOfARange) {
  AddressMap map;
  map.add({.begin = 0x1000, .end = 0x2000, .owner = Owner::kNamedBuffer, .name = "slots"});
  EXPECT_EQ(map.resolve(0x1000, 0).name, "slots");
  EXPECT_EQ(map.resolve(0x1FFF, 0).name, "slots");
  EXPECT_EQ(map.resolve(0x2000, 0).owner, Owner::kUnknown);
  EXPECT_EQ(map.resolve(0x0FFF, 0).owner, Owner::kUnknown);
}

TEST(AddressMap, ResolvesOnlyWithinTheEpochsOfARange) {
  AddressMap map;
  map.add({.begin = 0x1000,
           .end = 0x2000,
           .owner = Owner::kNamedBuffer,
           .name = "k_scale",
           .from_epoch = 3,
           .to_epoch = 5});
  EXPECT_EQ(map.resolve(0x1000, 2).owner, Owner::kUnknown);
  EXPECT_EQ(map.resolve(0x1000, 3).name, "k_scale");
  EXPECT_EQ(map.resolve(0x1000, 4).name, "k_scale");
  EXPECT_EQ(map.resolve(0x1000, 5).owner, Owner::kUnknown);
}

TEST(AddressMap, LetsALaterRangeShadowAnEarlierOne) {
  AddressMap map;
  map.add({.begin = 0x1000, .end = 0x2000, .owner = Owner::kFreeBlock, .name = "old"});
  map.add({.begin = 0x1000, .end = 0x2000, .owner = Owner::kNamedBuffer, .name = "new"});
  map.add({.begin = 0x1800, .end = 0x2800, .owner = Owner::kNamedBuffer, .name = "newest"});
  EXPECT_EQ(map.resolve(0x1000, 0).name, "new");
  EXPECT_EQ(map.resolve(0x1900, 0).name, "newest");
}

TEST(AddressMap, LetsASmallerRangeShadowTheLargerThatHoldsItInEitherOrder) {
  const OwnedRange pool{.begin = 0x1000, .end = 0x9000, .owner = Owner::kGraphPool, .name = "pool"};
  const OwnedRange buffer{
      .begin = 0x2000, .end = 0x3000, .owner = Owner::kNamedBuffer, .name = "top_k"};
  AddressMap larger_first;
  larger_first.add(pool);
  larger_first.add(buffer);
  AddressMap smaller_first;
  smaller_first.add(buffer);
  smaller_first.add(pool);
  for (const AddressMap* map : {&larger_first, &smaller_first}) {
    EXPECT_EQ(map->resolve(0x2800, 0).name, "top_k");
    EXPECT_EQ(map->resolve(0x3800, 0).name, "pool");
  }
}

TEST(AddressMap, TellsAllOwnersOfAnAddressOldestFirst) {
  AddressMap map;
  map.add({.begin = 0x1000, .end = 0x2000, .name = "third", .from_epoch = 9});
  map.add({.begin = 0x1000, .end = 0x1800, .name = "first", .from_epoch = 1, .to_epoch = 4});
  map.add({.begin = 0x1000, .end = 0x1800, .name = "second", .from_epoch = 4, .to_epoch = 9});
  map.add({.begin = 0x5000, .end = 0x6000, .name = "elsewhere", .from_epoch = 2});
  const auto history = map.history(0x1400);
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history[0].name, "first");
  EXPECT_EQ(history[1].name, "second");
  EXPECT_EQ(history[2].name, "third");
  EXPECT_TRUE(map.history(0x4000).empty());
}

}  // namespace
}  // namespace graphsan::device
