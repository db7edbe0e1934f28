#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace graphsan::trace {

/// How well an element of one sequence fits one of the other: 0 means not at all.
using Fit = std::function<int(std::size_t left, std::size_t right)>;

/// The heaviest common subsequence of two sequences of the given lengths: pairs (left, right),
/// strictly increasing in both, whose fits sum up highest. Fits are 0, 1 or 2.
///
/// Takes time and bytes in the order of left × right, less the equal ends. Of equally heavy results
/// the one that matches earlier elements of the right sequence first is chosen.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> longest_match(std::size_t left,
                                                                             std::size_t right,
                                                                             const Fit& fit);

}  // namespace graphsan::trace
