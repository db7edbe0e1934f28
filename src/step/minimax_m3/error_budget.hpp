#pragma once

#include <cstdint>

#include "model/dtype.hpp"
#include "model/facts.hpp"

namespace graphsan::step::minimax_m3 {

/// Mean of |decode(encode(x)) - x| / |x| over the standard normal density, by numerical integration
/// of the conversions in fp8_convert.hpp and bf16_convert.hpp (midpoints 1e-7 apart, to 6). The
/// public report behind the project measured 4.5 % for e5m2.
inline constexpr double kRoundTripBf16 = 0.001409;
inline constexpr double kRoundTripE4M3 = 0.024126;
inline constexpr double kRoundTripE5M2 = 0.044884;

/// How far a measured round trip may be from the expected one: 0.1 % absolute for fp8, and for bf16
/// a tenth of the expected value.
inline constexpr double kRoundTripTolerance = 0.001;

/// Measures the error of the arithmetic itself on the host, with scale 1: of a round trip of normal
/// data, and of attention over 16 blocks of 128 keys with quantised K and V against the same
/// computation without quantising. Queries are scaled so that the logits have the standard
/// deviation `spread`.
///
/// A pure function of its arguments. `dtype` is kBf16, kFp8E4M3 or kFp8E5M2; others throw
/// std::invalid_argument.
[[nodiscard]] model::ErrorBudget measure_error_budget(model::DType dtype, double spread,
                                                      std::uint64_t seed);

}  // namespace graphsan::step::minimax_m3
