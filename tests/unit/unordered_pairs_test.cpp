#include "trace/unordered_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace graphsan::trace {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kCache = 0x1000;
constexpr std::uint64_t kSlots = 0x2000;

enum class Access : std::uint8_t { kReads, kWrites, kUndeclared };

/// A kernel with one pointer argument.
model::Work kernel(int id, std::uint64_t address, Access access) {
  model::Work node;
  node.id = id;
  node.name = "kernel";
  node.arguments = {{0, std::vector<std::byte>(8)}};
  if (access != Access::kUndeclared) {
    node.fields = {{.name = "pointer",
                    .offset = 0,
                    .size = 8,
                    .is_pointer = true,
                    .is_written = access == Access::kWrites}};
  }
  node.addresses = {{.field = "pointer",
                     .offset = 0,
                     .address = address + 16,
                     .owner = model::OwnerKind::kNamedBuffer,
                     .owner_name = address == kCache ? "cache" : "slots",
                     .block = address}};
  return node;
}

/// A fork: node 0 before nodes 1 and 2, which nothing orders.
model::GraphSegment fork_of(model::Work left, model::Work right) {
  model::GraphSegment segment;
  segment.nodes = {kernel(0, kSlots, Access::kReads), std::move(left), std::move(right)};
  segment.edges = {{0, 1}, {0, 2}};
  return segment;
}

TEST(UnorderedPairs, NamesABranchThatWritesWhatTheOtherReads) {
  const auto pairs = unordered_pairs(
      fork_of(kernel(1, kCache, Access::kWrites), kernel(2, kCache, Access::kReads)));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].first, 1);
  EXPECT_EQ(pairs[0].second, 2);
  EXPECT_EQ(pairs[0].buffer, "cache");
  EXPECT_TRUE(pairs[0].declared);
}

TEST(UnorderedPairs, AreNoneWhereBothRead) {
  EXPECT_THAT(unordered_pairs(
                  fork_of(kernel(1, kCache, Access::kReads), kernel(2, kCache, Access::kReads))),
              IsEmpty());
}

TEST(UnorderedPairs, AreNoneWhereAnEdgeOrdersThem) {
  model::GraphSegment segment =
      fork_of(kernel(1, kCache, Access::kWrites), kernel(2, kCache, Access::kReads));
  segment.edges.push_back({1, 2});
  EXPECT_THAT(unordered_pairs(segment), IsEmpty());
}

TEST(UnorderedPairs, AreNoneWhereTheBuffersDiffer) {
  EXPECT_THAT(unordered_pairs(
                  fork_of(kernel(1, kCache, Access::kWrites), kernel(2, kSlots, Access::kWrites))),
              IsEmpty());
}

TEST(UnorderedPairs, SayWhereAWriteIsOnlyPossible) {
  const auto pairs = unordered_pairs(
      fork_of(kernel(1, kCache, Access::kUndeclared), kernel(2, kCache, Access::kReads)));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_FALSE(pairs[0].declared);
}

TEST(UnorderedPairs, PutDeclaredWritesFirst) {
  model::GraphSegment segment =
      fork_of(kernel(1, kSlots, Access::kUndeclared), kernel(2, kSlots, Access::kReads));
  segment.nodes.push_back(kernel(3, kCache, Access::kWrites));
  segment.nodes.push_back(kernel(4, kCache, Access::kReads));
  segment.edges.push_back({0, 3});
  segment.edges.push_back({0, 4});
  const auto pairs = unordered_pairs(segment);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_TRUE(pairs[0].declared);
  EXPECT_EQ(pairs[0].first, 3);
  EXPECT_FALSE(pairs[1].declared);
}

}  // namespace
}  // namespace graphsan::trace
