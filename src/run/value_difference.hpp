#pragma once

#include <cstddef>
#include <span>

#include "model/facts.hpp"

namespace graphsan::run {

/// How two rows of equal length differ as numbers: a constant ratio, rounding (at most 2 ulp of
/// bf16 or one fp8 code), non-finite values on one side only, or arbitrarily.
[[nodiscard]] model::ValueDifference value_difference(model::DType dtype,
                                                      std::span<const std::byte> eager,
                                                      std::span<const std::byte> graph);

}  // namespace graphsan::run
