#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "model/dtype.hpp"
#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/fp8_convert.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// scores[i] += weight × element i mod 128 of a row: a gather over all table entries that masks the
/// unused ones, which name page 0, with a weight of 0.
struct AddMaskedKey {
  static constexpr const char* kName = "add_masked_key";
  std::int64_t count;
  float* scores;
  const std::uint16_t* row;  ///< 128 bf16 values
  double weight;
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    scores[i] += static_cast<float>(weight) * step::minimax_m3::bf16_to_float(row[i % 128]);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"scores", 8, 8, true, true},
                                                          {"row", 16, 8, true},
                                                          {"weight", 24, 8, false}};
};

/// out[i] += weight × element i mod 128 of a row in the cache's dtype; nothing added, nothing
/// changed.
struct AddMaskedValue {
  static constexpr const char* kName = "add_masked_value";
  std::int64_t count;
  std::uint16_t* out;  ///< bf16
  const std::uint8_t* row;
  double weight;
  std::int64_t dtype;  ///< model::DType
  GRAPHSAN_HOST_DEVICE float element(std::int64_t i) const {
    if (dtype == static_cast<std::int64_t>(model::DType::kFp8E4M3)) {
      return step::minimax_m3::decode_fp8<step::minimax_m3::E4M3>(row[i]);
    }
    if (dtype == static_cast<std::int64_t>(model::DType::kFp8E5M2)) {
      return step::minimax_m3::decode_fp8<step::minimax_m3::E5M2>(row[i]);
    }
    return step::minimax_m3::bf16_to_float(reinterpret_cast<const std::uint16_t*>(row)[i]);
  }
  GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const {
    const float masked = static_cast<float>(weight) * element(i % 128);
    if (masked == 0.0F) return;
    out[i] = step::minimax_m3::float_to_bf16(step::minimax_m3::bf16_to_float(out[i]) + masked);
  }
  static constexpr device::ArgumentFieldInfo kFields[] = {{"count", 0, 8, false},
                                                          {"out", 8, 8, true, true},
                                                          {"row", 16, 8, true},
                                                          {"weight", 24, 8, false},
                                                          {"dtype", 32, 8, false}};
};

}  // namespace graphsan::faults
