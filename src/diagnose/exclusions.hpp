#pragma once

#include <vector>

#include "diagnose/experiments.hpp"
#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::diagnose {

/// Suspects that a person would try first on missing or stray rows, and the fact or experiment that
/// clears each: precision, a fresh tensor, a stale pointer, stale contents, order, unstable eager,
/// ties. Only those that are cleared are returned; `experiments` may be null (a stored recording).
/// Experiments that were run for it are added to `log`.
[[nodiscard]] std::vector<model::RuledOut> rule_out_suspects(
    const model::Facts& facts, Experiments* experiments, std::vector<model::ExperimentRecord>& log);

}  // namespace graphsan::diagnose
