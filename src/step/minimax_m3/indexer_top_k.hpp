#pragma once

#include <bit>
#include <cstdint>

#include "device/device.hpp"
#include "step/minimax_m3/host_device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

inline constexpr float kInitBlockScore = 1e30F;
inline constexpr float kLocalBlockScore = 1e29F;
inline constexpr float kNanScore = -1e30F;

/// Blocks that a lane sees, bounded by the width of a score row.
[[nodiscard]] GRAPHSAN_HOST_DEVICE inline std::int32_t visible_blocks(const IndexerTopKArgs& args,
                                                                      std::int64_t lane) {
  const std::int32_t length = args.seq_lens[lane];
  if (length <= 0) return 0;
  const std::int32_t blocks = (length - 1) / kBlockSize + 1;
  return blocks < args.blocks ? blocks : args.blocks;
}

/// Score that selection sees: forced for init and local blocks, a number in place of NaN, and no
/// negative zero, which would not tie with zero below.
[[nodiscard]] GRAPHSAN_HOST_DEVICE inline float effective_score(const IndexerTopKArgs& args,
                                                                float score, std::int32_t block,
                                                                std::int32_t visible) {
  if (block >= visible - args.local_blocks) return kLocalBlockScore;
  if (block < args.init_blocks) return kInitBlockScore;
  return score == score ? score + 0.0F : kNanScore;
}

/// A total order of (score, block): larger is better, and of equal scores the lower block.
[[nodiscard]] GRAPHSAN_HOST_DEVICE inline std::uint64_t rank_key(float score, std::int32_t block) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(score);
  const std::uint32_t ordered = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  return (static_cast<std::uint64_t>(ordered) << 32) |
         (0xFFFFFFFFU - static_cast<std::uint32_t>(block));
}

[[nodiscard]] GRAPHSAN_HOST_DEVICE inline std::int32_t block_of_key(std::uint64_t key) {
  return static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(key));
}

/// See IndexerTopKArgs. An exact selection, so both devices choose the same blocks from the same
/// scores.
[[nodiscard]] const device::Kernel& indexer_top_k_kernel();
/// Nothing is launched for no tokens, no heads or k = 0.
void launch_indexer_top_k(device::Device& device, device::StreamRef stream,
                          const IndexerTopKArgs& args);

}  // namespace graphsan::step::minimax_m3
