#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "step/minimax_m3/host_simd.hpp"
#include "step/minimax_m3/op_args.hpp"

// The inner loops of indexer and attention on the host, over tiles of keys decoded to fp32.
//
// Every result of a row (one head of one lane) is a fixed sequence of operations on that row and
// on the keys up to the lane's own limit, so it does not depend on the other rows of a batch.
namespace graphsan::step::minimax_m3 {

/// Keys of a tile: two tiles (K and V) of 32 KiB stay in a core's second-level cache.
inline constexpr int kTileKeys = 64;

/// Eight floats; lowered to two registers where the target has no wider ones.
using Float8 = float __attribute__((vector_size(32)));
using Float4 = float __attribute__((vector_size(16)));
using Int8 = std::int32_t __attribute__((vector_size(32)));

/// Sums of four vectors: element i is the sum of `parts[i]` in a fixed order.
GRAPHSAN_INLINE_BODY Float4 sum_each(const Float8 (&parts)[4]) {
  Float4 halves[4];
  for (int i = 0; i < 4; ++i) {
    halves[i] = __builtin_shufflevector(parts[i], parts[i], 0, 1, 2, 3) +
                __builtin_shufflevector(parts[i], parts[i], 4, 5, 6, 7);
  }
  const Float4 first = __builtin_shufflevector(halves[0], halves[1], 0, 4, 1, 5) +
                       __builtin_shufflevector(halves[0], halves[1], 2, 6, 3, 7);
  const Float4 second = __builtin_shufflevector(halves[2], halves[3], 0, 4, 1, 5) +
                        __builtin_shufflevector(halves[2], halves[3], 2, 6, 3, 7);
  return __builtin_shufflevector(first, second, 0, 1, 4, 5) +
         __builtin_shufflevector(first, second, 2, 3, 6, 7);
}

/// Dot products of two rows with four keys. All pointers are 32-byte aligned; keys follow each
/// other. `scores_a` and `scores_b` receive four numbers each.
GRAPHSAN_INLINE_BODY void dot_two_by_four(const float* row_a, const float* row_b, const float* keys,
                                          float* scores_a, float* scores_b) {
  Float8 a[4] = {};
  Float8 b[4] = {};
  for (int d = 0; d < kHeadDim; d += 8) {
    const Float8 x = *reinterpret_cast<const Float8*>(row_a + d);
    const Float8 y = *reinterpret_cast<const Float8*>(row_b + d);
    for (int key = 0; key < 4; ++key) {
      const Float8 k = *reinterpret_cast<const Float8*>(keys + key * kHeadDim + d);
      a[key] += x * k;
      b[key] += y * k;
    }
  }
  *reinterpret_cast<Float4*>(scores_a) = sum_each(a);
  *reinterpret_cast<Float4*>(scores_b) = sum_each(b);
}

/// Scores of two rows against the first `limit` keys of a tile; up to three more are written.
GRAPHSAN_INLINE_BODY void score_two_rows(const float* row_a, const float* row_b, const float* tile,
                                         int limit, float* scores_a, float* scores_b) {
  for (int key = 0; key < limit; key += 4) {
    dot_two_by_four(row_a, row_b, tile + key * kHeadDim, scores_a + key, scores_b + key);
  }
}

/// x = 2^x for x ≤ 0, relative error below 2e-7; 0 below -126; NaN stays NaN. Exactly 1 at 0.
GRAPHSAN_INLINE_BODY void raise_two_to(Float8& x) {
  const Float8 clamped = x < -126.0F ? Float8{} - 126.0F : x;
  constexpr float kRounder = 12582912.0F;  // 1.5 × 2^23: adding it rounds to an integer
  const Float8 shifted = clamped + kRounder;
  const Float8 fraction = clamped - (shifted - kRounder);
  const Int8 whole = __builtin_bit_cast(Int8, shifted) - std::bit_cast<std::int32_t>(kRounder);
  // Taylor series of 2^f = e^(f ln 2), |f| ≤ 1/2.
  Float8 power = fraction * 1.5252733804e-5F + 1.5403530394e-4F;
  power = power * fraction + 1.3333558146e-3F;
  power = power * fraction + 9.6181291076e-3F;
  power = power * fraction + 5.5504108665e-2F;
  power = power * fraction + 2.4022650696e-1F;
  power = power * fraction + 6.9314718056e-1F;
  power = power * fraction + 1.0F;
  const Float8 result = power * __builtin_bit_cast(Float8, (whole + 127) << 23);
  x = x < -126.0F ? Float8{} : result;
}

/// 2^x of one number, by the same operations.
GRAPHSAN_INLINE_BODY float two_to(float x) {
  Float8 copies = Float8{} + x;
  raise_two_to(copies);
  return copies[0];
}

/// Online softmax of one row: largest logit so far and sum of the weights relative to it.
struct SoftmaxState {
  float largest = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

/// Turns `limit` scores of a tile into weights and updates the state. `scores` has kTileKeys
/// elements and is aligned; logit = score × `factor`, in powers of two. Returns the factor by which
/// earlier sums shrink.
GRAPHSAN_INLINE_BODY float softmax_tile(float* scores, int limit, float factor,
                                        SoftmaxState& state) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  float largest = state.largest;
  for (int i = 0; i < limit; ++i) {
    scores[i] *= factor;
    largest = scores[i] > largest ? scores[i] : largest;
  }
  const int padded = (limit + 7) / 8 * 8;
  for (int i = limit; i < padded; ++i) scores[i] = kNone;
  Float8 sums = {};
  for (int i = 0; i < padded; i += 8) {
    auto& group = *reinterpret_cast<Float8*>(scores + i);
    group -= largest;
    raise_two_to(group);
    sums += group;
  }
  const float shrink = two_to(state.largest - largest);
  const Float8 parts[4] = {sums, {}, {}, {}};
  state.sum = state.sum * shrink + sum_each(parts)[0];
  state.largest = largest;
  return shrink;
}

/// out = out × shrink + weights · values, for two rows of one lane and the first `limit` keys.
GRAPHSAN_INLINE_BODY void accumulate_two_rows(const float* weights_a, const float* weights_b,
                                              const float* values, int limit, float shrink_a,
                                              float shrink_b, float* out_a, float* out_b) {
  constexpr int kVectors = 4;
  for (int d = 0; d < kHeadDim; d += 8 * kVectors) {
    Float8 a[kVectors];
    Float8 b[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      a[v] = *reinterpret_cast<const Float8*>(out_a + d + 8 * v) * shrink_a;
      b[v] = *reinterpret_cast<const Float8*>(out_b + d + 8 * v) * shrink_b;
    }
    for (int key = 0; key < limit; ++key) {
      for (int v = 0; v < kVectors; ++v) {
        const Float8 value = *reinterpret_cast<const Float8*>(values + key * kHeadDim + d + 8 * v);
        a[v] += value * weights_a[key];
        b[v] += value * weights_b[key];
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      *reinterpret_cast<Float8*>(out_a + d + 8 * v) = a[v];
      *reinterpret_cast<Float8*>(out_b + d + 8 * v) = b[v];
    }
  }
}

}  // namespace graphsan::step::minimax_m3
