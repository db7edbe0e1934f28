#pragma once

#include <cuda_fp8.h>

#include <cstdint>

#include "model/dtype.hpp"
#include "step/minimax_m3/fp8_convert.hpp"

namespace graphsan::step::minimax_m3 {

/// encode_fp8() through the conversion instruction where the architecture has one; the software
/// form below compute capability 8.9.
template <typename Format>
__device__ std::uint8_t encode_fp8_native(float value);

template <>
__device__ inline std::uint8_t encode_fp8_native<E4M3>(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  const auto code = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  return value == value ? static_cast<std::uint8_t>(code) : kFp8Nan;
#else
  return encode_fp8<E4M3>(value);
#endif
}

template <>
__device__ inline std::uint8_t encode_fp8_native<E5M2>(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  const auto code = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
  return value == value ? static_cast<std::uint8_t>(code) : kFp8Nan;
#else
  return encode_fp8<E5M2>(value);
#endif
}

/// Code of `value / scale`; `dtype` must be one of the two fp8 types.
__device__ inline std::uint8_t quantize(float value, float scale, model::DType dtype,
                                        Conversion conversion) {
  const float scaled = __fdiv_rn(value, scale);
  const bool native = conversion == Conversion::kNative;
  if (dtype == model::DType::kFp8E4M3) {
    return native ? encode_fp8_native<E4M3>(scaled) : encode_fp8<E4M3>(scaled);
  }
  return native ? encode_fp8_native<E5M2>(scaled) : encode_fp8<E5M2>(scaled);
}

}  // namespace graphsan::step::minimax_m3
