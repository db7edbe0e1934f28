#pragma once

#include <vector>

#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::diagnose {

/// Suspects that a person would try first on missing or stray rows, and the fact that clears each:
/// precision, a fresh tensor, a stale pointer, stale contents, ties. Only those that are cleared
/// are returned.
[[nodiscard]] std::vector<model::RuledOut> rule_out_suspects(const model::Facts& facts);

}  // namespace graphsan::diagnose
