#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "model/dtype.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/fp8_convert.hpp"
#include "step/minimax_m3/host_simd.hpp"
#include "step/minimax_m3/op_args.hpp"

// Conversion of one head's 128 elements on the host, as bodies for GRAPHSAN_TARGET_AVX2 wrappers.
namespace graphsan::step::minimax_m3 {

GRAPHSAN_INLINE_BODY void widen_bf16_row(const std::uint16_t* source, float* row) {
  for (int d = 0; d < kHeadDim; ++d) row[d] = bf16_to_float(source[d]);
}

template <typename Format>
GRAPHSAN_INLINE_BODY void widen_fp8_row(const std::byte* source, float* row) {
  std::uint8_t codes[kHeadDim];
  std::memcpy(codes, source, sizeof(codes));
  std::uint8_t largest = 0;
  for (const std::uint8_t code : codes) {
    largest = std::max(largest, static_cast<std::uint8_t>(code & 0x7FU));
  }
  if (largest >= Format::kFirstSpecial) {
    for (int d = 0; d < kHeadDim; ++d) row[d] = decode_fp8<Format>(codes[d]);
    return;
  }
  // Finite codes read as a float with fp8's exponent field are too small by a power of two.
  constexpr float kRebias =
      std::bit_cast<float>(static_cast<std::uint32_t>(254 - Format::kBias) << 23);
  for (int d = 0; d < kHeadDim; ++d) {
    const std::uint32_t magnitude = (codes[d] & 0x7FU) << (23 - Format::kMantissaBits);
    const float value = std::bit_cast<float>(magnitude) * kRebias;
    row[d] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) |
                                  (static_cast<std::uint32_t>(codes[d] & 0x80U) << 24));
  }
}

/// Stored values without their scale. `source` is aligned to its element.
GRAPHSAN_INLINE_BODY void widen_row(model::DType dtype, const std::byte* source, float* row) {
  if (dtype == model::DType::kFp8E4M3) {
    widen_fp8_row<E4M3>(source, row);
  } else if (dtype == model::DType::kFp8E5M2) {
    widen_fp8_row<E5M2>(source, row);
  } else {
    widen_bf16_row(reinterpret_cast<const std::uint16_t*>(source), row);
  }
}

template <typename Format>
GRAPHSAN_INLINE_BODY void quantize_row(const float* row, float scale, std::byte* destination) {
  std::uint8_t codes[kHeadDim];
  for (int d = 0; d < kHeadDim; ++d) codes[d] = encode_fp8<Format>(row[d] / scale);
  std::memcpy(destination, codes, sizeof(codes));
}

/// Stores fp32 values in a cache's dtype; bf16 ignores the scale.
GRAPHSAN_INLINE_BODY void store_row(model::DType dtype, const float* row, float scale,
                                    std::byte* destination) {
  if (dtype == model::DType::kFp8E4M3) {
    quantize_row<E4M3>(row, scale, destination);
  } else if (dtype == model::DType::kFp8E5M2) {
    quantize_row<E5M2>(row, scale, destination);
  } else {
    auto* rounded = reinterpret_cast<std::uint16_t*>(destination);
    for (int d = 0; d < kHeadDim; ++d) rounded[d] = float_to_bf16(row[d]);
  }
}

/// Stores bf16 values in a cache's dtype; bf16 is a copy of the bits.
GRAPHSAN_INLINE_BODY void store_bf16_row(model::DType dtype, const std::uint16_t* source,
                                         float scale, std::byte* destination) {
  if (dtype == model::DType::kBf16) {
    std::memcpy(destination, source, kHeadDim * sizeof(std::uint16_t));
    return;
  }
  float row[kHeadDim];
  widen_bf16_row(source, row);
  store_row(dtype, row, scale, destination);
}

}  // namespace graphsan::step::minimax_m3
