#pragma once

#include <cstddef>
#include <cstdint>

#include "model/dtype.hpp"
#include "step/minimax_m3/fp8_convert.hpp"

namespace graphsan::step::minimax_m3 {

/// Main K/V cache of one layer as an op sees it. Element [page, slot, head, d] of K lies at
/// `key + page * page_stride + slot * slot_stride + head * head_stride + d * size`; V likewise from
/// `value`. Strides in bytes. `key == nullptr`: not bound (profiling run) and the op does nothing.
struct KvCacheArg {
  std::byte* key;
  std::byte* value;
  std::int64_t page_stride;
  std::int64_t slot_stride;
  std::int64_t head_stride;
  std::int64_t slots;  ///< pages × page_size, for bounds of a wrapping index
  std::int32_t page_size;
  std::int32_t heads;
  model::DType dtype;  ///< kBf16, kFp8E4M3 or kFp8E5M2
  Conversion conversion;
};

/// Index-K cache of one layer: bf16 rows of 128, contiguous. `base == nullptr`: not bound.
struct IndexCacheArg {
  std::uint16_t* base;
  std::int64_t slots;
};

/// Per-rank head counts. A row of qkv is `[q | k | v | index_q | index_k]`, each head 128 wide;
/// dense layers have index_q = 0 and no index_k.
struct HeadsArg {
  std::int32_t q;
  std::int32_t kv;
  std::int32_t index_q;
  std::int32_t index_k;  ///< 1 on sparse layers, 0 on dense ones
};

inline constexpr int kHeadDim = 128;
inline constexpr int kRotaryPairs = 32;
inline constexpr int kBlockSize = 128;
inline constexpr float kNormEpsilon = 1e-6F;

/// Norm and rope (and insert); see minimax_m3/norm_rope.hpp.
struct NormRopeArgs {
  std::uint16_t* qkv;          ///< [tokens, row_width] bf16; k and index_k are rewritten in place
  std::uint16_t* q_out;        ///< [tokens, q × 128]
  std::uint16_t* index_q_out;  ///< [tokens, index_q × 128], null on dense layers
  const std::uint16_t* w_q;    ///< [128] each
  const std::uint16_t* w_k;
  const std::uint16_t* w_index_q;
  const std::uint16_t* w_index_k;
  const std::int64_t* positions;    ///< [tokens]; negative (pad lanes) reads row 0 of the table
  const std::uint16_t* cos_sin;     ///< [positions, 64]: cos(32) then sin(32)
  const std::int64_t* slots;        ///< [tokens]; null: norm and rope only
  const std::int64_t* index_slots;  ///< [tokens]
  const float* k_scale;             ///< one number on the device; null means 1
  const float* v_scale;
  KvCacheArg cache;
  IndexCacheArg index_cache;
  HeadsArg heads;
  std::int64_t row_width;
  std::int32_t tokens;
};

/// `reshape_and_cache_flash`. Slots beyond the cache are skipped too, so a cache of zero rows is
/// legal and receives nothing.
struct ReshapeAndCacheArgs {
  const std::uint16_t* key;  ///< token t at key + t × key_stride elements, heads packed
  const std::uint16_t* value;
  std::int64_t key_stride;
  std::int64_t value_stride;
  const std::int64_t* slots;  ///< [tokens]; negative: skip K and V
  const float* k_scale;       ///< scale_count numbers
  const float* v_scale;
  KvCacheArg cache;
  std::int32_t tokens;       ///< length of the slot mapping
  std::int32_t scale_count;  ///< 1, or one a head
};

/// What an index-K write does with a negative slot: skip it (the fixed path), or wrap it round as
/// `index_cache[slots] = x` does (-1 is the last row).
enum class NegativeSlot : std::int32_t { kSkip, kWrap };

/// Index-K scatter: row `slots[t]` = index_k[t].
struct IndexKeyWriteArgs {
  const std::uint16_t* index_k;  ///< token t at index_k + t × stride elements
  std::int64_t stride;
  const std::int64_t* slots;  ///< [tokens]
  IndexCacheArg cache;
  std::int32_t tokens;
  NegativeSlot negative;
};

/// Which pages a lane's context lies in: token at position p of sequence s is in slot
/// `block_table[s × table_stride + p / page_size] × page_size + p % page_size`.
///
/// `seq_lens` alone bounds a lane's context, clamped to what the block table can name.
struct ContextArg {
  const std::int32_t* block_table;    ///< [sequences, table_stride]
  const std::int32_t* lane_sequence;  ///< [tokens]: row of block_table; pad lanes 0
  const std::int64_t* positions;  ///< [tokens]: the lane's own position, its context is 0..position
  const std::int32_t* seq_lens;   ///< [tokens]: position + 1; 0 for a pad lane: no context
  std::int32_t table_stride;
  std::int32_t page_size;
};

/// Score of every visible block: max over the block's tokens t ≤ position of
/// dot(index_q, index_k[t]), fp32; NaN only where all of them are. Score columns beyond the visible
/// blocks are left alone. `index_cache == nullptr`: not bound and the op does nothing.
struct IndexerScoreArgs {
  const std::uint16_t* index_q;  ///< [tokens, heads × 128]
  const std::uint16_t* index_cache;
  float* scores;  ///< [heads, tokens, blocks]
  ContextArg context;
  std::int32_t tokens;
  std::int32_t heads;
  std::int32_t blocks;  ///< width of a score row
};

/// Top-k blocks of each (head, lane): the last visible block is always among them, NaN counts as
/// -1e30, -1 fills up beyond min(k, visible). Scores of the first `init_blocks` count as 1e30, then
/// those of the last `local_blocks` visible ones as 1e29. Ties go to the lower block id. Ids are
/// written in ascending order.
struct IndexerTopKArgs {
  const float* scores;           ///< [heads, tokens, blocks]
  std::int32_t* top_k;           ///< [heads, tokens_stride, k]
  const std::int32_t* seq_lens;  ///< [tokens]
  std::int32_t tokens;
  std::int32_t tokens_stride;
  std::int32_t heads;
  std::int32_t blocks;
  std::int32_t k;
  std::int32_t init_blocks;
  std::int32_t local_blocks;
};

/// GQA attention over selected blocks (`top_k` given) or over the whole context (null), causal,
/// fp32 online softmax, scale 128^-0.5. A lane without context or without a selected block gives 0.
/// Selected ids outside the visible blocks are passed over; one that is listed twice counts twice.
/// The key scale multiplies the logits and the value scale the result, both in fp32.
struct AttentionArgs {
  const std::uint16_t* q;     ///< [tokens, q × 128] bf16
  std::uint16_t* out;         ///< [tokens, q × 128] bf16
  const std::int32_t* top_k;  ///< [kv, tokens_stride, k]: one selection a KV head; or null
  KvCacheArg cache;
  const float* k_scale;  ///< one number on the device; null means 1
  const float* v_scale;
  ContextArg context;
  std::int32_t tokens;
  std::int32_t tokens_stride;  ///< of top_k
  std::int32_t q_heads;
  std::int32_t k;
  /// Scratch of attention_scratch_floats() numbers, with which dense attention over a long context
  /// is spread over a CUDA device; null: one thread block per lane and KV head. Same bits with and
  /// without. Not read on the host device.
  float* scratch = nullptr;
};

/// Mixes a layer's output into the next layer's input:
/// qkv[t, j] = base[t, j] + weight × out[t, (j × 7 + 3) mod out_width], rounded to bf16.
struct MixArgs {
  const std::uint16_t* base;  ///< [tokens, row_width]: this layer's drawn input
  const std::uint16_t* out;   ///< [tokens, out_width]: the layer before; null on the first layer
  std::uint16_t* qkv;         ///< [tokens, row_width]
  std::int64_t row_width;
  std::int64_t out_width;
  std::int32_t tokens;
  float weight;
};

/// Draws normal values, a pure function of (seed, index): out[i] = scale × normal(seed, first + i),
/// the sum of four 16-bit uniforms, centred and scaled to unit variance. Equal on both devices.
struct DrawArgs {
  std::uint16_t* out;  ///< bf16
  std::int64_t count;
  std::int64_t first;
  std::uint64_t seed;
  float scale;
};

/// `x.contiguous()`: token t's `width` elements from a strided source into a packed buffer. A
/// framework's fresh temporary.
struct ContiguousArgs {
  const std::uint16_t* source;
  std::int64_t source_stride;
  std::uint16_t* destination;
  std::int32_t tokens;
  std::int32_t width;
};

/// `torch.ones`-like fill of a float buffer.
struct FillFloatArgs {
  float* out;
  std::int32_t count;
  float value;
};

}  // namespace graphsan::step::minimax_m3
