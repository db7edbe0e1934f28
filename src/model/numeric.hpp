#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/dtype.hpp"

namespace graphsan::model {

/// Exact value of a bfloat16 bit pattern.
[[nodiscard]] float bf16_to_float(std::uint16_t bits);

/// Exact value of an OCP e4m3fn byte; 0x7F and 0xFF are NaN, there is no infinity.
[[nodiscard]] float e4m3_to_float(std::uint8_t code);

/// Exact value of an OCP e5m2 byte (the upper half of an IEEE binary16).
[[nodiscard]] float e5m2_to_float(std::uint8_t code);

/// Decodes packed elements to float; integer types convert by value.
[[nodiscard]] std::vector<float> decode(DType dtype, std::span<const std::byte> bytes);

/// Distance of two elements of one dtype counted in representable values (bf16 ulp, fp8 codes);
/// -0 and +0 are 0 apart; a NaN is INT64_MAX from everything but an equal pattern.
[[nodiscard]] std::int64_t code_distance(DType dtype, std::span<const std::byte> a,
                                         std::span<const std::byte> b);

}  // namespace graphsan::model
