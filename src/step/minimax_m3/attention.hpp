#pragma once

#include <cstdint>

#include "device/device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// Attention over the blocks of `top_k`.
[[nodiscard]] const device::Kernel& sparse_attention_kernel();
/// Attention over the whole context.
[[nodiscard]] const device::Kernel& dense_attention_kernel();
/// The two kernels that take the place of dense_attention on a CUDA device when the context is long
/// and scratch is given. They have no host form and are never launched on the host device.
[[nodiscard]] const device::Kernel& dense_attention_split_kernel();
[[nodiscard]] const device::Kernel& dense_attention_combine_kernel();

/// Positions that one thread block of dense_attention_split covers. Partial results are combined
/// in the order of positions, so a lane's result depends on its own context only.
inline constexpr std::int64_t kAttentionSplit = 2048;

/// Splits of the longest context that the block table can name.
[[nodiscard]] constexpr std::int64_t attention_splits(std::int64_t table_stride,
                                                      std::int64_t page_size) {
  return (table_stride * page_size + kAttentionSplit - 1) / kAttentionSplit;
}

/// Floats of one partial result: 128 sums, the largest logit, the sum of the weights.
inline constexpr std::int64_t kPartialFloats = kHeadDim + 2;

/// Size of AttentionArgs::scratch, [tokens, q_heads, splits, kPartialFloats].
[[nodiscard]] constexpr std::int64_t attention_scratch_floats(std::int64_t tokens,
                                                              std::int64_t q_heads,
                                                              std::int64_t table_stride,
                                                              std::int64_t page_size) {
  return tokens * q_heads * attention_splits(table_stride, page_size) * kPartialFloats;
}

/// See AttentionArgs. q_heads must be a multiple of cache.heads, at most kMaxGroup times it.
/// Nothing is launched for no tokens; with an unbound cache the kernel does nothing.
void launch_attention(device::Device& device, device::StreamRef stream, const AttentionArgs& args);

/// Largest number of query heads that share one KV head.
inline constexpr std::int32_t kMaxGroup = 64;

}  // namespace graphsan::step::minimax_m3
