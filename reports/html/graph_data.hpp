#pragma once

#include "model/facts.hpp"
#include "reports/html/json_values.hpp"

namespace graphsan::reports::html {

/// Launches beside nodes: `{lines: {items, left_out}, segments, field_sets}`.
///
/// Each line holds its launch and its node; without an alignment there is one line a node, of kind
/// `node`. Lines that do not match are kept before those that do when the budget is short, and work
/// beyond the budget keeps its name and loses its operands (`operands` is absent).
[[nodiscard]] Json graph_data(const model::Facts& facts, Budget budget);

}  // namespace graphsan::reports::html
