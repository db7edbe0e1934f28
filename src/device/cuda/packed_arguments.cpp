#include "device/cuda/packed_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/error.hpp"

namespace graphsan::device {
namespace {

/// A list repeats no tag, so one that goes on after both known tags is not well formed.
constexpr int kMostTags = 2;

PackedBuffer problem(std::string text) { return PackedBuffer{{}, std::move(text)}; }

void check_range(std::size_t offset, std::size_t size, std::size_t available) {
  if (offset <= available && size <= available - offset) return;
  throw DeviceError{ErrorKind::kInvalidArgument,
                    fmt::format("parameter of {} bytes at offset {} does not fit a buffer of {}",
                                size, offset, available)};
}

}  // namespace

PackedBuffer walk_packed_list(const void* const* extra) {
  if (extra == nullptr) return problem("the node has no packed list");
  const std::byte* buffer = nullptr;
  const std::size_t* size = nullptr;
  int tags = 0;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kPackedEnd; extra += 2, ++tags) {
    if (tags == kMostTags) return problem("the packed list does not end after its two tags");
    const auto tag = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (tag == kPackedBufferPointer) {
      buffer = static_cast<const std::byte*>(extra[1]);
    } else if (tag == kPackedBufferSize) {
      size = static_cast<const std::size_t*>(extra[1]);
    } else {
      return problem(fmt::format("the packed list has an unknown tag {}", tag));
    }
    if (extra[1] == nullptr) return problem(fmt::format("packed tag {} has no value", tag));
  }
  if (buffer == nullptr) return problem("the packed list names no buffer");
  if (size == nullptr) return problem("the packed list gives no buffer size");
  return PackedBuffer{{buffer, *size}, {}};
}

std::vector<Argument> split_parameters(std::span<const std::byte> buffer,
                                       std::span<const ParameterSlot> slots) {
  std::vector<Argument> arguments;
  arguments.reserve(slots.size());
  for (const ParameterSlot& slot : slots) {
    check_range(slot.offset, slot.size, buffer.size());
    const auto bytes = buffer.subspan(slot.offset, slot.size);
    arguments.push_back(
        Argument{static_cast<std::uint32_t>(slot.offset), {bytes.begin(), bytes.end()}});
  }
  return arguments;
}

void overlay_parameters(std::span<std::byte> buffer, std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    check_range(argument.offset, argument.bytes.size(), buffer.size());
    std::ranges::copy(argument.bytes, buffer.begin() + argument.offset);
  }
}

}  // namespace graphsan::device
