#include "step/minimax_m3/cuda_symbols.hpp"

namespace graphsan::step::minimax_m3::cuda_symbols {

const void* norm_rope() { return nullptr; }
const void* fused_norm_rope_insert() { return nullptr; }
const void* reshape_and_cache_flash() { return nullptr; }
const void* index_key_write() { return nullptr; }
const void* index_put() { return nullptr; }
const void* indexer_score() { return nullptr; }
const void* indexer_top_k() { return nullptr; }
const void* sparse_attention() { return nullptr; }
const void* dense_attention() { return nullptr; }
const void* dense_attention_split() { return nullptr; }
const void* dense_attention_combine() { return nullptr; }
const void* mix() { return nullptr; }
const void* draw_normal() { return nullptr; }
const void* contiguous() { return nullptr; }
const void* fill_float() { return nullptr; }

}  // namespace graphsan::step::minimax_m3::cuda_symbols
