#include "run/value_difference.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "model/numeric.hpp"

namespace graphsan::run {

namespace {

/// Up to where a difference is rounding: representable values apart, or, for an element that terms
/// cancel in, a share of the row's typical magnitude.
struct Rounding {
  std::int64_t codes = 0;
  double share = 0;
};

Rounding rounding_of(model::DType dtype) {
  constexpr double kBf16Ulp = 0x1p-7;
  switch (dtype) {
    case model::DType::kBf16:
      return {2, kBf16Ulp};
    case model::DType::kF32:
      return {2, 0x1p-16};  // 2^-24 times the square root of as many as 2^16 terms
    case model::DType::kFp8E4M3:
    case model::DType::kFp8E5M2:
      return {1, kBf16Ulp};  // of the bf16 value that was converted
    case model::DType::kI32:
    case model::DType::kI64:
    case model::DType::kU8:
      return {};
  }
  return {};
}

/// Median magnitude of the elements that are neither zero nor infinite; 0 where there are none.
double typical_magnitude(const std::vector<float>& values) {
  std::vector<double> sizes;
  for (const float value : values) {
    if (value != 0.0F && std::isfinite(value)) sizes.push_back(std::abs(value));
  }
  if (sizes.empty()) return 0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle;
}

/// Relative half-width within which two quantised values may stand for one ratio.
double ratio_tolerance(model::DType dtype) {
  switch (dtype) {
    case model::DType::kFp8E5M2:
      return 0.27;
    case model::DType::kFp8E4M3:
      return 0.14;
    case model::DType::kBf16:
      return 0.01;
    case model::DType::kF32:
    case model::DType::kI32:
    case model::DType::kI64:
    case model::DType::kU8:
      return 1e-5;
  }
  return 1e-5;
}

/// The common ratio graph / eager of all non-zero elements, or 0.
double common_ratio(model::DType dtype, const std::vector<float>& eager,
                    const std::vector<float>& graph) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    if ((eager[i] == 0.0F) != (graph[i] == 0.0F)) continue;
    if (eager[i] != 0.0F) ratios.push_back(static_cast<double>(graph[i]) / eager[i]);
  }
  if (ratios.size() < 8 || ratios.size() * 4 < eager.size() * 3) return 0.0;
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  const double median = ratios[ratios.size() / 2];
  const double width = std::abs(median) * ratio_tolerance(dtype);
  const bool constant = std::all_of(ratios.begin(), ratios.end(), [&](double ratio) {
    return std::abs(ratio - median) <= width;
  });
  constexpr double kOne = 1e-5;  // no scale is that near to one
  return constant && std::abs(median - 1) > kOne ? median : 0.0;
}

/// The dtype of the same width that `dtype` may have been taken for, or itself.
model::DType other_of(model::DType dtype) {
  switch (dtype) {
    case model::DType::kFp8E4M3:
      return model::DType::kFp8E5M2;
    case model::DType::kFp8E5M2:
      return model::DType::kFp8E4M3;
    case model::DType::kBf16:
    case model::DType::kF32:
    case model::DType::kI32:
    case model::DType::kI64:
    case model::DType::kU8:
      return dtype;
  }
  return dtype;
}

/// Read as the other fp8, the graph's bytes give eager's values up to both formats' rounding.
bool decodes_as_other(model::DType dtype, const std::vector<float>& eager,
                      std::span<const std::byte> graph) {
  constexpr double kBothRoundings = 0.2;  // 1/8 of e5m2 and 1/16 of e4m3
  if (other_of(dtype) == dtype) return false;
  const std::vector<float> other = model::decode(other_of(dtype), graph);
  std::size_t close = 0;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    const double size = std::abs(static_cast<double>(eager[i]));
    if (size < 0.02) continue;  // below e4m3's normal range
    ++counted;
    close += std::abs(static_cast<double>(other[i]) - eager[i]) <= kBothRoundings * size ? 1 : 0;
  }
  return counted >= 8 && close * 20 >= counted * 19;
}

}  // namespace

model::ValueDifference value_difference(model::DType dtype, std::span<const std::byte> eager,
                                        std::span<const std::byte> graph) {
  assert(eager.size() == graph.size());
  const std::vector<float> a = model::decode(dtype, eager);
  const std::vector<float> b = model::decode(dtype, graph);
  const std::size_t size = model::byte_size(dtype);
  const Rounding allowed = rounding_of(dtype);
  const double allowed_apart = allowed.share * typical_magnitude(a);
  model::ValueDifference difference;
  bool non_finite = false;
  bool rounding = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto left = eager.subspan(i * size, size);
    const auto right = graph.subspan(i * size, size);
    if (std::equal(left.begin(), left.end(), right.begin())) continue;
    ++difference.elements;
    non_finite = non_finite || std::isfinite(a[i]) != std::isfinite(b[i]);
    const std::int64_t codes = model::code_distance(dtype, left, right);
    difference.max_code_distance = std::max(difference.max_code_distance, codes);
    const double apart = std::abs(static_cast<double>(a[i]) - b[i]);
    rounding = rounding && (codes <= allowed.codes || apart <= allowed_apart);
  }
  if (difference.elements == 0) return difference;
  if (decodes_as_other(dtype, a, graph)) {
    difference.kind = model::ValueKind::kOtherDtype;
  } else if (non_finite) {
    difference.kind = model::ValueKind::kNonFinite;
  } else if (rounding) {
    difference.kind = model::ValueKind::kRounding;
  } else if (const double ratio = common_ratio(dtype, a, b); ratio != 0.0) {
    difference.kind = model::ValueKind::kConstantRatio;
    difference.ratio = ratio;
  } else {
    difference.kind = model::ValueKind::kArbitrary;
  }
  return difference;
}

}  // namespace graphsan::run
