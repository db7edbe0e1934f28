#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/node.hpp"

namespace graphsan::device {

/// Tags of the driver's packed launch form (`CU_LAUNCH_PARAM_*`), spelled here so that a build
/// without CUDA can test the walk.
inline constexpr std::uintptr_t kPackedEnd = 0;
inline constexpr std::uintptr_t kPackedBufferPointer = 1;
inline constexpr std::uintptr_t kPackedBufferSize = 2;

/// The parameter buffer that an `extra` list names; `problem` says why there is none.
struct PackedBuffer {
  std::span<const std::byte> bytes;  ///< borrowed from the list's owner
  std::string problem;               ///< empty when `bytes` may be read
};

/// Where a kernel's parameter lies in its parameter buffer, in bytes.
struct ParameterSlot {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Walks the tags of a packed launch list, in whatever order they come, up to its end tag.
///
/// `extra` must end in a kPackedEnd, as CUDA demands; a null list, an unknown tag, a missing buffer
/// or size, and a list longer than its two known tags are problems, never reads out of bounds.
[[nodiscard]] PackedBuffer walk_packed_list(const void* const* extra);

/// Cuts a parameter buffer into the parameters at `slots`, by value.
///
/// Throws DeviceError kInvalidArgument when a slot ends beyond the buffer.
[[nodiscard]] std::vector<Argument> split_parameters(std::span<const std::byte> buffer,
                                                     std::span<const ParameterSlot> slots);

/// Copies `arguments` over the bytes of `buffer` at their offsets; the rest stays.
///
/// Throws DeviceError kInvalidArgument when an argument ends beyond the buffer.
void overlay_parameters(std::span<std::byte> buffer, std::span<const Argument> arguments);

}  // namespace graphsan::device
