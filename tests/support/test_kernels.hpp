#pragma once

#include <cstdint>

#include "device/kernel.hpp"

namespace graphsan::test {

/// Writes `value` to `destination`.
struct StoreWordArgs {
  std::uint64_t* destination = nullptr;
  std::uint64_t value = 0;
};

/// `destination[i] += value` for i < count; reads, then writes, so its order shows.
struct AddWordsArgs {
  std::uint64_t* destination = nullptr;
  std::uint64_t value = 0;
  std::uint64_t count = 0;
};

/// `destination[i] = source[i]` for i < count.
struct CopyWordsArgs {
  std::uint64_t* destination = nullptr;
  const std::uint64_t* source = nullptr;
  std::uint64_t count = 0;
};

/// The kernels of the device tests, right for any grid and block.
[[nodiscard]] const device::Kernel& store_word_kernel();
[[nodiscard]] const device::Kernel& add_words_kernel();
[[nodiscard]] const device::Kernel& copy_words_kernel();

/// Addresses of the `__global__` forms: test_kernels.cu has them, test_kernels_without_cuda.cpp
/// says null. A test program links one of the two beside test_kernels.cpp.
[[nodiscard]] const void* store_word_symbol();
[[nodiscard]] const void* add_words_symbol();
[[nodiscard]] const void* copy_words_symbol();

}  // namespace graphsan::test
