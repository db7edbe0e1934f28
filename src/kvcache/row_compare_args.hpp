#pragma once

#include <cstdint>

namespace graphsan::kvcache {

/// Lists the rows whose digests differ, in no order.
struct CompareArgs {
  const std::uint64_t* a;
  const std::uint64_t* b;
  std::int64_t rows;
  unsigned long long* found;  ///< how many differ; grows beyond `capacity`
  std::int64_t* list;         ///< [capacity]
  std::int64_t capacity;
};

inline constexpr std::uint32_t kCompareThreads = 256;
inline constexpr std::uint32_t kCompareRowsPerThread = 8;

/// Address of the `__global__` function; defined in builds with CUDA only.
[[nodiscard]] const void* compare_symbol();

}  // namespace graphsan::kvcache
