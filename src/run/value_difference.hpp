#pragma once

#include <cstddef>
#include <span>

#include "model/facts.hpp"

namespace graphsan::run {

/// How two rows of equal length differ as numbers: a constant ratio, rounding (2 ulp or one fp8
/// code in each element, or as little beside the median magnitude of eager's row, as where terms
/// cancel), non-finite values on one side only, or arbitrarily.
[[nodiscard]] model::ValueDifference value_difference(model::DType dtype,
                                                      std::span<const std::byte> eager,
                                                      std::span<const std::byte> graph);

}  // namespace graphsan::run
