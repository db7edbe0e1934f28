#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/kernel.hpp"

namespace graphsan::kvcache {

/// Reads `chunks` × 16 bytes and keeps nothing.
struct PlainReadArgs {
  const std::byte* data;
  std::int64_t chunks;  ///< a multiple of 512
  std::uint64_t* sink;  ///< one word, written only if a thread's words come to `unlikely`
  std::uint64_t unlikely;
};

/// Fills `words` with numbers drawn from their index.
struct DrawWordsArgs {
  std::uint64_t* words;
  std::int64_t count;
};

struct EmptyArgs {
  std::int32_t unused;
};

/// A way to read memory once: how fast depends on loads in flight and on who reads what.
struct PlainRead {
  device::Kernel kernel;
  std::int64_t chunks_per_block;  ///< of one turn
  std::uint32_t threads;
  std::uint32_t blocks;  ///< 0: one turn each, as many as needed; else this many take turns
};

/// The ways to read that the benchmark tries. On the host device all are one.
[[nodiscard]] const std::vector<PlainRead>& plain_reads();
[[nodiscard]] const device::Kernel& draw_words_kernel();
[[nodiscard]] const device::Kernel& empty_kernel();

inline constexpr std::uint32_t kBenchThreads = 256;

/// Addresses of the `__global__` functions; defined in builds with CUDA only. The number is that of
/// 16-byte loads that a thread has in flight.
[[nodiscard]] const void* plain_read_4_symbol();
[[nodiscard]] const void* plain_read_8_symbol();
[[nodiscard]] const void* plain_read_16_symbol();
[[nodiscard]] const void* draw_words_symbol();
[[nodiscard]] const void* empty_symbol();

}  // namespace graphsan::kvcache
