#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cache_store.cuh"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/exact_math.hpp"
#include "step/minimax_m3/head_role.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr int kWarp = 32;
constexpr int kPerLane = kHeadDim / kWarp;

/// Sum over a warp, adding lanes 16, 8, 4, 2 and 1 apart; the same in every lane.
__device__ float warp_sum(float value) {
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    value = add(value, __shfl_xor_sync(0xFFFFFFFFU, value, apart));
  }
  return value;
}

/// Norm and rope of one head by one warp: lane i holds elements i, i + 32, i + 64 and i + 96, so a
/// rope pair is in one lane.
__device__ void norm_and_rotate(float (&x)[kPerLane], const std::uint16_t* weight,
                                const std::uint16_t* cos_sin, int lane) {
  float squares = multiply(x[0], x[0]);
  for (int j = 1; j < kPerLane; ++j) squares = add(squares, multiply(x[j], x[j]));
  const float mean = multiply(warp_sum(squares), 1.0F / kHeadDim);
  const float inverse = __fdiv_rn(1.0F, __fsqrt_rn(add(mean, kNormEpsilon)));
  for (int j = 0; j < kPerLane; ++j) {
    const float gain = add(1.0F, bf16_to_float(weight[lane + j * kWarp]));
    x[j] = multiply(multiply(x[j], inverse), gain);
  }
  const float cosine = bf16_to_float(cos_sin[lane]);
  const float sine = bf16_to_float(cos_sin[kRotaryPairs + lane]);
  const float first = x[0];
  const float second = x[1];
  x[0] = add(multiply(first, cosine), -multiply(second, sine));
  x[1] = add(multiply(second, cosine), multiply(first, sine));
}

/// Inserts a normed K or index-K head, or a V head.
__device__ void insert_head(const NormRopeArgs& args, HeadRole role, std::int64_t token, int lane,
                            const float (&x)[kPerLane]) {
  if (role.kind == HeadKind::kIndexKey) {
    if (args.index_cache.base == nullptr || args.index_slots == nullptr) return;
    const std::int64_t slot = args.index_slots[token];
    if (!writes_slot(slot, args.index_cache.slots)) return;
    std::uint16_t* run = args.index_cache.base + slot * kHeadDim;
    for (int j = 0; j < kPerLane; ++j) run[lane + j * kWarp] = float_to_bf16(x[j]);
    return;
  }
  const KvCacheArg& cache = args.cache;
  if (cache.key == nullptr || !writes_slot(args.slots[token], cache.slots)) return;
  const bool is_key = role.kind == HeadKind::kKey;
  const float scale = scale_or_one(is_key ? args.k_scale : args.v_scale);
  std::byte* run =
      (is_key ? cache.key : cache.value) + kv_offset(cache, args.slots[token], role.index);
  const std::uint16_t* value =
      args.qkv + token * args.row_width + (args.heads.q + args.heads.kv + role.index) * kHeadDim;
  for (int j = 0; j < kPerLane; ++j) {
    const int d = lane + j * kWarp;
    if (is_key) {
      store_element(cache, run, d, x[j], scale);
    } else {
      store_bf16_element(cache, run, d, value[d], scale);
    }
  }
}

/// One thread block a token; its warps take the heads in turn.
template <bool kInsert>
__device__ void process_token(const NormRopeArgs& args) {
  const std::int64_t token = blockIdx.x;
  if (token >= args.tokens) return;
  const int lane = threadIdx.x % kWarp;
  const std::int64_t position = args.positions[token] < 0 ? 0 : args.positions[token];
  const std::uint16_t* cos_sin = args.cos_sin + position * 2 * kRotaryPairs;
  for (std::int32_t head = threadIdx.x / kWarp; head < head_count(args.heads);
       head += blockDim.x / kWarp) {
    const HeadRole role = head_role(args.heads, head);
    float x[kPerLane] = {};
    if (role.kind != HeadKind::kValue) {
      const std::uint16_t* source = args.qkv + token * args.row_width + head * kHeadDim;
      for (int j = 0; j < kPerLane; ++j) x[j] = bf16_to_float(source[lane + j * kWarp]);
      norm_and_rotate(x, norm_weight(args, role.kind), cos_sin, lane);
      std::uint16_t* destination = normed_destination(args, role, token, head);
      for (int j = 0; j < kPerLane; ++j) destination[lane + j * kWarp] = float_to_bf16(x[j]);
    }
    if constexpr (kInsert) {
      if (role.kind != HeadKind::kQuery && role.kind != HeadKind::kIndexQuery) {
        insert_head(args, role, token, lane, x);
      }
    }
  }
}

}  // namespace

__global__ void norm_rope(NormRopeArgs args) { process_token<false>(args); }

__global__ void fused_norm_rope_insert(NormRopeArgs args) { process_token<true>(args); }

const void* cuda_symbols::norm_rope() {
  return reinterpret_cast<const void*>(&minimax_m3::norm_rope);
}

const void* cuda_symbols::fused_norm_rope_insert() {
  return reinterpret_cast<const void*>(&minimax_m3::fused_norm_rope_insert);
}

}  // namespace graphsan::step::minimax_m3
