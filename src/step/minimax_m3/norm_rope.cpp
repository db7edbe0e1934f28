#include "step/minimax_m3/norm_rope.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "step/minimax_m3/argument_fields.hpp"
#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/head_role.hpp"
#include "step/minimax_m3/host_rows.hpp"
#include "step/minimax_m3/host_simd.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, qkv),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, q_out),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, index_q_out),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, w_q),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, w_k),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, w_index_q),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, w_index_k),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, positions),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, cos_sin),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, slots),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, index_slots),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, k_scale),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, v_scale),
    GRAPHSAN_KV_CACHE_FIELDS(NormRopeArgs, cache),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, index_cache.base),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, index_cache.slots),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, heads.q),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, heads.kv),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, heads.index_q),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, heads.index_k),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, row_width),
    GRAPHSAN_ARGUMENT_FIELD(NormRopeArgs, tokens),
};

/// Sum of squares in the order of a warp whose lane i holds elements i, i + 32, i + 64, i + 96 and
/// which then adds lanes 16, 8, 4, 2 and 1 apart.
GRAPHSAN_INLINE_BODY float sum_of_squares(const float* row) {
  float lanes[32];
  for (int i = 0; i < 32; ++i) {
    lanes[i] = ((row[i] * row[i] + row[i + 32] * row[i + 32]) + row[i + 64] * row[i + 64]) +
               row[i + 96] * row[i + 96];
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    for (int i = 0; i < apart; ++i) lanes[i] += lanes[i + apart];
  }
  return lanes[0];
}

/// Norm, then rope, in place.
GRAPHSAN_INLINE_BODY void norm_and_rotate(float* row, const std::uint16_t* weight,
                                          const std::uint16_t* cos_sin) {
  const float mean = sum_of_squares(row) * (1.0F / kHeadDim);
  const float inverse = 1.0F / std::sqrt(mean + kNormEpsilon);
  for (int d = 0; d < kHeadDim; ++d) {
    row[d] = (row[d] * inverse) * (1.0F + bf16_to_float(weight[d]));
  }
  for (int i = 0; i < kRotaryPairs; ++i) {
    const float cosine = bf16_to_float(cos_sin[i]);
    const float sine = bf16_to_float(cos_sin[kRotaryPairs + i]);
    const float first = row[i];
    const float second = row[i + kRotaryPairs];
    row[i] = first * cosine - second * sine;
    row[i + kRotaryPairs] = second * cosine + first * sine;
  }
}

/// Slots of one token; negative where nothing is inserted.
struct TokenSlots {
  std::int64_t main = -1;
  std::int64_t index = -1;
};

GRAPHSAN_INLINE_BODY void process_head(const NormRopeArgs& args, std::int64_t token,
                                       std::int32_t head, const std::uint16_t* cos_sin,
                                       TokenSlots slots) {
  const HeadRole role = head_role(args.heads, head);
  const std::uint16_t* source = args.qkv + token * args.row_width + head * kHeadDim;
  if (role.kind == HeadKind::kValue) {
    if (slots.main < 0) return;
    store_bf16_row(args.cache.dtype, source, scale_or_one(args.v_scale),
                   args.cache.value + kv_offset(args.cache, slots.main, role.index));
    return;
  }
  float row[kHeadDim];
  widen_bf16_row(source, row);
  norm_and_rotate(row, norm_weight(args, role.kind), cos_sin);
  std::uint16_t* destination = normed_destination(args, role, token, head);
  for (int d = 0; d < kHeadDim; ++d) destination[d] = float_to_bf16(row[d]);
  if (role.kind == HeadKind::kKey && slots.main >= 0) {
    store_row(args.cache.dtype, row, scale_or_one(args.k_scale),
              args.cache.key + kv_offset(args.cache, slots.main, role.index));
  }
  if (role.kind == HeadKind::kIndexKey && slots.index >= 0) {
    std::copy_n(destination, kHeadDim, args.index_cache.base + slots.index * kHeadDim);
  }
}

TokenSlots slots_of(const NormRopeArgs& args, std::int64_t token, bool insert) {
  TokenSlots slots;
  if (!insert) return slots;
  if (args.cache.key != nullptr && writes_slot(args.slots[token], args.cache.slots)) {
    slots.main = args.slots[token];
  }
  if (args.index_cache.base != nullptr && args.index_slots != nullptr &&
      writes_slot(args.index_slots[token], args.index_cache.slots)) {
    slots.index = args.index_slots[token];
  }
  return slots;
}

GRAPHSAN_INLINE_BODY void process_tokens(const NormRopeArgs& args, std::int64_t tokens,
                                         bool insert) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::int64_t position = std::max<std::int64_t>(args.positions[t], 0);
    const std::uint16_t* cos_sin = args.cos_sin + position * 2 * kRotaryPairs;
    const TokenSlots slots = slots_of(args, t, insert);
    for (std::int32_t head = 0; head < head_count(args.heads); ++head) {
      process_head(args, t, head, cos_sin, slots);
    }
  }
}

GRAPHSAN_TARGET_AVX2 void process_avx2(const NormRopeArgs& args, std::int64_t tokens, bool insert) {
  process_tokens(args, tokens, insert);
}

void process_baseline(const NormRopeArgs& args, std::int64_t tokens, bool insert) {
  process_tokens(args, tokens, insert);
}

void run_host(const device::LaunchDims& dims, const NormRopeArgs& args, bool insert) {
  const auto process = has_avx2() ? &process_avx2 : &process_baseline;
  process(args, covered_lanes(dims, args.tokens), insert);
}

void norm_rope_host(const device::LaunchDims& dims, const void* arguments) {
  run_host(dims, *static_cast<const NormRopeArgs*>(arguments), false);
}

void fused_norm_rope_insert_host(const device::LaunchDims& dims, const void* arguments) {
  run_host(dims, *static_cast<const NormRopeArgs*>(arguments), true);
}

}  // namespace

const device::Kernel& norm_rope_kernel() {
  static const device::Kernel kernel{"norm_rope", cuda_symbols::norm_rope(), &norm_rope_host,
                                     sizeof(NormRopeArgs), kFields};
  return kernel;
}

const device::Kernel& fused_norm_rope_insert_kernel() {
  static const device::Kernel kernel{"fused_norm_rope_insert",
                                     cuda_symbols::fused_norm_rope_insert(),
                                     &fused_norm_rope_insert_host, sizeof(NormRopeArgs), kFields};
  return kernel;
}

void launch_norm_rope(device::Device& device, device::StreamRef stream, const NormRopeArgs& args) {
  if (args.tokens <= 0) return;
  const device::Kernel& kernel =
      args.slots == nullptr ? norm_rope_kernel() : fused_norm_rope_insert_kernel();
  device.launch(stream, kernel, lane_dims(args.tokens), &args);
}

}  // namespace graphsan::step::minimax_m3
