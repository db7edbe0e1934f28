#pragma once

/// Host-side addresses of the `__global__` forms of the ops, for device::Kernel::cuda_symbol. All
/// null in a build without CUDA.
namespace graphsan::step::minimax_m3::cuda_symbols {

[[nodiscard]] const void* norm_rope();
[[nodiscard]] const void* fused_norm_rope_insert();
[[nodiscard]] const void* reshape_and_cache_flash();
[[nodiscard]] const void* index_key_write();
[[nodiscard]] const void* index_put();
[[nodiscard]] const void* indexer_score();
[[nodiscard]] const void* indexer_top_k();
[[nodiscard]] const void* sparse_attention();
[[nodiscard]] const void* dense_attention();
[[nodiscard]] const void* dense_attention_split();
[[nodiscard]] const void* dense_attention_combine();
[[nodiscard]] const void* mix();
[[nodiscard]] const void* draw_normal();
[[nodiscard]] const void* contiguous();
[[nodiscard]] const void* fill_float();

}  // namespace graphsan::step::minimax_m3::cuda_symbols
