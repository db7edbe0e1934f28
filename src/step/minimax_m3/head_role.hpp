#pragma once

#include <cstdint>

#include "step/minimax_m3/host_device.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// What a head of the fused row is.
enum class HeadKind : std::int32_t { kQuery, kKey, kValue, kIndexQuery, kIndexKey };

struct HeadRole {
  HeadKind kind;
  std::int32_t index;  ///< among the heads of its kind
};

[[nodiscard]] GRAPHSAN_HOST_DEVICE inline std::int32_t head_count(const HeadsArg& heads) {
  return heads.q + 2 * heads.kv + heads.index_q + heads.index_k;
}

/// Role of head `head` of a row `[q | k | v | index_q | index_k]`.
[[nodiscard]] GRAPHSAN_HOST_DEVICE inline HeadRole head_role(const HeadsArg& heads,
                                                             std::int32_t head) {
  if (head < heads.q) return {HeadKind::kQuery, head};
  head -= heads.q;
  if (head < heads.kv) return {HeadKind::kKey, head};
  head -= heads.kv;
  if (head < heads.kv) return {HeadKind::kValue, head};
  head -= heads.kv;
  if (head < heads.index_q) return {HeadKind::kIndexQuery, head};
  return {HeadKind::kIndexKey, head - heads.index_q};
}

/// Norm weight of a head that is normed.
[[nodiscard]] GRAPHSAN_HOST_DEVICE inline const std::uint16_t* norm_weight(const NormRopeArgs& args,
                                                                           HeadKind kind) {
  switch (kind) {
    case HeadKind::kQuery:
      return args.w_q;
    case HeadKind::kKey:
      return args.w_k;
    case HeadKind::kIndexQuery:
      return args.w_index_q;
    case HeadKind::kIndexKey:
      return args.w_index_k;
    case HeadKind::kValue:
      break;
  }
  return nullptr;
}

/// Where the normed bf16 values of a head go; null for V.
[[nodiscard]] GRAPHSAN_HOST_DEVICE inline std::uint16_t* normed_destination(
    const NormRopeArgs& args, HeadRole role, std::int64_t token, std::int32_t head) {
  switch (role.kind) {
    case HeadKind::kQuery:
      return args.q_out + (token * args.heads.q + role.index) * kHeadDim;
    case HeadKind::kIndexQuery:
      return args.index_q_out + (token * args.heads.index_q + role.index) * kHeadDim;
    case HeadKind::kKey:
    case HeadKind::kIndexKey:
      return args.qkv + token * args.row_width + head * kHeadDim;
    case HeadKind::kValue:
      break;
  }
  return nullptr;
}

}  // namespace graphsan::step::minimax_m3
