#include "device/cuda/packed_arguments.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "device/error.hpp"

namespace graphsan::device {
namespace {

const void* tag(std::uintptr_t value) { return reinterpret_cast<const void*>(value); }

std::vector<std::byte> counted_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

class PackedList : public ::testing::Test {
 protected:
  std::vector<std::byte> buffer_ = counted_bytes(40);
  std::size_t size_ = 40;
};

TEST_F(PackedList, GivesTheBufferWhenTheSizeComesFirst) {
  const std::array<const void*, 5> list{tag(kPackedBufferSize), &size_, tag(kPackedBufferPointer),
                                        buffer_.data(), tag(kPackedEnd)};
  const PackedBuffer found = walk_packed_list(list.data());
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.bytes.data(), buffer_.data());
  EXPECT_EQ(found.bytes.size(), 40U);
}

TEST_F(PackedList, GivesTheBufferWhenThePointerComesFirst) {
  const std::array<const void*, 5> list{tag(kPackedBufferPointer), buffer_.data(),
                                        tag(kPackedBufferSize), &size_, tag(kPackedEnd)};
  const PackedBuffer found = walk_packed_list(list.data());
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.bytes.data(), buffer_.data());
  EXPECT_EQ(found.bytes.size(), 40U);
}

TEST_F(PackedList, IsAProblemWhenItEndsAfterTheBuffer) {
  const std::array<const void*, 3> list{tag(kPackedBufferPointer), buffer_.data(), tag(kPackedEnd)};
  const PackedBuffer found = walk_packed_list(list.data());
  EXPECT_EQ(found.problem, "the packed list gives no buffer size");
  EXPECT_TRUE(found.bytes.empty());
}

TEST_F(PackedList, IsAProblemWhenItEndsAfterTheSize) {
  const std::array<const void*, 3> list{tag(kPackedBufferSize), &size_, tag(kPackedEnd)};
  EXPECT_EQ(walk_packed_list(list.data()).problem, "the packed list names no buffer");
}

TEST_F(PackedList, IsAProblemWhenItIsEmpty) {
  const std::array<const void*, 1> list{tag(kPackedEnd)};
  EXPECT_EQ(walk_packed_list(list.data()).problem, "the packed list names no buffer");
}

TEST_F(PackedList, IsAProblemWhenItIsCutAfterATag) {
  const std::array<const void*, 4> list{tag(kPackedBufferPointer), buffer_.data(),
                                        tag(kPackedBufferSize), tag(kPackedEnd)};
  EXPECT_EQ(walk_packed_list(list.data()).problem, "packed tag 2 has no value");
}

TEST_F(PackedList, IsAProblemWhenATagIsUnknown) {
  const std::array<const void*, 5> list{tag(7), &size_, tag(kPackedBufferPointer), buffer_.data(),
                                        tag(kPackedEnd)};
  EXPECT_EQ(walk_packed_list(list.data()).problem, "the packed list has an unknown tag 7");
}

TEST_F(PackedList, IsAProblemWhenItDoesNotEnd) {
  const std::array<const void*, 6> list{tag(kPackedBufferPointer), buffer_.data(),
                                        tag(kPackedBufferSize),    &size_,
                                        tag(kPackedBufferSize),    &size_};
  EXPECT_EQ(walk_packed_list(list.data()).problem,
            "the packed list does not end after its two tags");
}

TEST_F(PackedList, IsAProblemWhenThereIsNone) {
  EXPECT_EQ(walk_packed_list(nullptr).problem, "the node has no packed list");
}

TEST(ParameterBuffer, IsSplitAtTheGivenPlaces) {
  const std::vector<std::byte> buffer = counted_bytes(24);
  const std::array slots{ParameterSlot{0, 4}, ParameterSlot{8, 8}, ParameterSlot{23, 1}};
  const std::vector<Argument> arguments = split_parameters(buffer, slots);
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[0].offset, 0U);
  EXPECT_EQ(arguments[0].bytes, counted_bytes(4));
  EXPECT_EQ(arguments[1].offset, 8U);
  EXPECT_EQ(arguments[1].bytes, std::vector<std::byte>(buffer.begin() + 8, buffer.begin() + 16));
  EXPECT_EQ(arguments[2].bytes, std::vector<std::byte>{std::byte{23}});
}

TEST(ParameterBuffer, IsCopiedAndNotBorrowed) {
  std::vector<std::byte> buffer = counted_bytes(8);
  const std::array slots{ParameterSlot{0, 8}};
  const std::vector<Argument> arguments = split_parameters(buffer, slots);
  buffer[0] = std::byte{99};
  EXPECT_EQ(arguments[0].bytes[0], std::byte{0});
}

TEST(ParameterBuffer, IsNotReadBeyondItsEnd) {
  const std::vector<std::byte> buffer = counted_bytes(8);
  EXPECT_THROW(split_parameters(buffer, std::array{ParameterSlot{4, 5}}), DeviceError);
  EXPECT_THROW(split_parameters(buffer, std::array{ParameterSlot{9, 0}}), DeviceError);
  EXPECT_THROW(split_parameters(buffer, std::array{ParameterSlot{4, SIZE_MAX}}), DeviceError);
}

TEST(ParameterBuffer, TakesArgumentsInPlaceAndKeepsTheRest) {
  std::vector<std::byte> buffer = counted_bytes(8);
  overlay_parameters(buffer, std::array{Argument{2, {std::byte{90}, std::byte{91}}}});
  std::vector<std::byte> expected = counted_bytes(8);
  expected[2] = std::byte{90};
  expected[3] = std::byte{91};
  EXPECT_EQ(buffer, expected);
}

TEST(ParameterBuffer, IsNotWrittenBeyondItsEnd) {
  std::vector<std::byte> buffer = counted_bytes(8);
  const std::array beyond{Argument{7, {std::byte{1}, std::byte{2}}}};
  EXPECT_THROW(overlay_parameters(buffer, beyond), DeviceError);
  EXPECT_EQ(buffer, counted_bytes(8));
}

}  // namespace
}  // namespace graphsan::device
