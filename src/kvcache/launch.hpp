#pragma once

#include <cstdint>
#include <stdexcept>

#include "device/kernel.hpp"

/// The `__global__` function behind `symbol()`, or null in a build without CUDA, where the function
/// that tells is not there.
#if GRAPHSAN_WITH_CUDA
#define GRAPHSAN_CUDA_SYMBOL(symbol) (symbol())
#else
#define GRAPHSAN_CUDA_SYMBOL(symbol) nullptr
#endif

namespace graphsan::kvcache {

/// As many blocks of `threads` threads as `items` need at `items_per_block`.
[[nodiscard]] inline device::LaunchDims blocks_of(std::int64_t items, std::int64_t items_per_block,
                                                  std::uint32_t threads) {
  const std::int64_t blocks = (items + items_per_block - 1) / items_per_block;
  if (blocks > INT32_MAX) throw std::invalid_argument{"too many rows for one launch"};
  return {{static_cast<std::uint32_t>(blocks)}, {threads}, 0};
}

}  // namespace graphsan::kvcache
