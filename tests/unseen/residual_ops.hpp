#pragma once

#include <cstdint>
#include <span>

#include "step/minimax_m3/bf16_convert.hpp"
#include "tests/unseen/element_op.hpp"

namespace graphsan::test {

/// kept = values, as fp32.
struct KeepResidual {
  static constexpr const char* kName = "keep_residual";
  float* kept;
  const std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    kept[i] = step::minimax_m3::bf16_to_float(values[i / width * stride + i % width]);
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(KeepResidual, kept), GRAPHSAN_ARGUMENT_FIELD(KeepResidual, values),
        GRAPHSAN_ARGUMENT_FIELD(KeepResidual, stride), GRAPHSAN_ARGUMENT_FIELD(KeepResidual, width),
        GRAPHSAN_ARGUMENT_FIELD(KeepResidual, count)};
    return kFields;
  }
};

/// values += half of what is kept.
struct AddResidual {
  static constexpr const char* kName = "add_residual";
  std::uint16_t* values;
  const float* kept;
  std::int64_t stride;
  std::int64_t width;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    std::uint16_t& value = values[i / width * stride + i % width];
    value =
        step::minimax_m3::float_to_bf16(step::minimax_m3::bf16_to_float(value) + 0.5F * kept[i]);
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(AddResidual, values), GRAPHSAN_ARGUMENT_FIELD(AddResidual, kept),
        GRAPHSAN_ARGUMENT_FIELD(AddResidual, stride), GRAPHSAN_ARGUMENT_FIELD(AddResidual, width),
        GRAPHSAN_ARGUMENT_FIELD(AddResidual, count)};
    return kFields;
  }
};

}  // namespace graphsan::test
