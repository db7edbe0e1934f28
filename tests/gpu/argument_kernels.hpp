#pragma once

#include <cstdint>

namespace graphsan::test {

inline constexpr std::uint32_t kManyWords = 64;

/// Over 1 KB, with pointers inside, as a framework's elementwise kernels take one.
struct ManyWordsArgs {
  std::uint64_t lead = 0;
  std::uint64_t* destinations[kManyWords] = {};
  std::uint64_t values[kManyWords] = {};
  std::uint32_t count = 0;
};
static_assert(sizeof(ManyWordsArgs) > 1024);

/// `*destinations[i] = values[i] + lead` for i < count. One parameter.
[[nodiscard]] const void* many_words_symbol();

/// `*destination = (low << shift) + offset`: (uint64_t* destination, uint32_t low, uint8_t shift,
/// uint64_t offset), four parameters at offsets 0, 8, 12 and 16.
[[nodiscard]] const void* mixed_arguments_symbol();

/// Takes no parameter and does nothing.
[[nodiscard]] const void* no_arguments_symbol();

}  // namespace graphsan::test
