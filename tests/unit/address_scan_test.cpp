#include "trace/address_scan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace graphsan::trace {
namespace {

constexpr std::uint64_t kCache = 0x7f00'0000'0000;
constexpr std::uint64_t kTemporary = 0x7f00'0010'0000;

device::AddressMap sample_map() {
  device::AddressMap map;
  map.add({kCache, kCache + 4096, device::Owner::kNamedBuffer, "layer 1 index-key", 0, UINT64_MAX});
  map.add({kTemporary, kTemporary + 512, device::Owner::kGraphPool, "pool 1", 0, 10});
  map.add({kTemporary, kTemporary + 512, device::Owner::kFreeBlock, "freed", 10, UINT64_MAX});
  return map;
}

/// An argument at `offset` of words, as they lie in memory.
model::KernelArgument words(std::uint32_t offset, const std::vector<std::uint64_t>& values) {
  model::KernelArgument argument;
  argument.offset = offset;
  argument.bytes.resize(values.size() * sizeof(std::uint64_t));
  std::memcpy(argument.bytes.data(), values.data(), argument.bytes.size());
  return argument;
}

TEST(AddressScan, FindsPointersInsideStructsAndSaysWhoOwnsThem) {
  model::Work work;
  work.arguments = {words(0, {17, kCache + 64, 3}), words(24, {kTemporary})};
  const auto uses = scan_addresses(work, sample_map(), 5);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].field, "+8");
  EXPECT_EQ(uses[0].offset, 8U);
  EXPECT_EQ(uses[0].address, kCache + 64);
  EXPECT_EQ(uses[0].owner, model::OwnerKind::kNamedBuffer);
  EXPECT_EQ(uses[0].owner_name, "layer 1 index-key");
  EXPECT_EQ(uses[1].field, "+24");
  EXPECT_EQ(uses[1].owner, model::OwnerKind::kGraphPool);
}

TEST(AddressScan, AsksForTheOwnerAtTheEpoch) {
  model::Work work;
  work.arguments = {words(0, {kTemporary + 8})};
  EXPECT_EQ(scan_addresses(work, sample_map(), 9).at(0).owner, model::OwnerKind::kGraphPool);
  EXPECT_EQ(scan_addresses(work, sample_map(), 10).at(0).owner, model::OwnerKind::kFreeBlock);
}

TEST(AddressScan, DropsWordsThatNobodyOwns) {
  model::Work work;
  work.arguments = {words(0, {0, 1, kCache - 1, kCache + 4096})};
  EXPECT_TRUE(scan_addresses(work, sample_map(), 0).empty());
}

TEST(AddressScan, KeepsDeclaredPointersEvenWhenUnknownOrNull) {
  model::Work work;
  work.arguments = {words(0, {0, 0xdead'0000, 5})};
  work.fields = {{"slot_mapping", 0, 8, true}, {"key", 8, 8, true}, {"lanes", 16, 8, false}};
  const auto uses = scan_addresses(work, sample_map(), 0);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].field, "slot_mapping");
  EXPECT_EQ(uses[0].address, 0U);
  EXPECT_EQ(uses[0].owner, model::OwnerKind::kUnknown);
  EXPECT_EQ(uses[1].field, "key");
  EXPECT_EQ(uses[1].address, 0xdead'0000U);
  EXPECT_EQ(uses[1].owner, model::OwnerKind::kUnknown);
}

TEST(AddressScan, NamesAWordInsideALargerField) {
  model::Work work;
  work.arguments = {words(0, {1, kCache, kCache + 8})};
  work.fields = {{"tables", 0, 24, false}};
  const auto uses = scan_addresses(work, sample_map(), 0);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].field, "tables+8");
  EXPECT_EQ(uses[1].field, "tables+16");
}

TEST(AddressScan, TriesAlignedWordsOnlyButForDeclaredPointers) {
  model::KernelArgument argument;
  argument.offset = 0;
  argument.bytes.resize(20);
  std::memcpy(argument.bytes.data() + 4, &kCache, sizeof(kCache));
  model::Work work;
  work.arguments = {argument};
  EXPECT_TRUE(scan_addresses(work, sample_map(), 0).empty());
  work.fields = {{"packed", 4, 8, true}};
  const auto uses = scan_addresses(work, sample_map(), 0);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].field, "packed");
  EXPECT_EQ(uses[0].offset, 4U);
  EXPECT_EQ(uses[0].owner_name, "layer 1 index-key");
}

TEST(AddressScan, CountsOffsetsFromTheParameterBuffer) {
  model::KernelArgument argument;
  argument.offset = 12;
  argument.bytes.resize(12);
  std::memcpy(argument.bytes.data() + 4, &kCache, sizeof(kCache));
  model::Work work;
  work.arguments = {argument};
  const auto uses = scan_addresses(work, sample_map(), 0);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].offset, 16U);
}

TEST(AddressScan, TakesTheOperandsOfCopiesAndFills) {
  model::Work copy;
  copy.type = model::NodeType::kMemcpy;
  copy.copy = model::CopyOperands{kCache, 0x5555'0000, 64};
  const auto uses = scan_addresses(copy, sample_map(), 0);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].field, "destination");
  EXPECT_EQ(uses[0].owner, model::OwnerKind::kNamedBuffer);
  EXPECT_EQ(uses[1].field, "source");
  EXPECT_EQ(uses[1].owner, model::OwnerKind::kUnknown);

  model::Work fill;
  fill.type = model::NodeType::kMemset;
  fill.fill = model::FillOperands{kTemporary, 64, 0};
  ASSERT_EQ(scan_addresses(fill, sample_map(), 0).size(), 1U);
  EXPECT_EQ(scan_addresses(fill, sample_map(), 0)[0].field, "destination");
}

TEST(AddressScan, FillsInEveryNodeOfASegment) {
  model::GraphSegment segment;
  segment.nodes.resize(2);
  segment.nodes[0].arguments = {words(0, {kCache})};
  segment.nodes[1].arguments = {words(0, {1})};
  resolve_addresses(segment, sample_map(), 0);
  EXPECT_EQ(segment.nodes[0].addresses.size(), 1U);
  EXPECT_TRUE(segment.nodes[1].addresses.empty());
}

}  // namespace
}  // namespace graphsan::trace
