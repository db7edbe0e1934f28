#pragma once

#include <vector>

#include "model/facts.hpp"
#include "model/graph.hpp"

namespace graphsan::trace {

/// Pairs of nodes of one segment that no path of edges orders and that name one buffer, at least
/// one of them writing it, or able to where it is a kernel whose arguments nobody declared.
///
/// Uses the declared fields (`is_written`) and the operands of copies and fills. Two addresses are
/// in one buffer when they resolve to the same owned range. Pairs in which a write is declared come
/// first; each group is ordered by node.
[[nodiscard]] std::vector<model::UnorderedPair> unordered_pairs(const model::GraphSegment& segment);

}  // namespace graphsan::trace
