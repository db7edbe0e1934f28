#pragma once

#include <vector>

#include "kvcache/cache_set.hpp"
#include "model/facts.hpp"
#include "run/arm_log.hpp"

namespace graphsan::run {

/// Where the eager arm differs from the reference ops: rows and outputs of the steps for which the
/// log holds `lane_rows` and `attended`, selections of all steps. Empty without an oracle.
[[nodiscard]] std::vector<model::ReferenceDifference> compare_with_reference(
    const kvcache::CacheSet& caches, const std::vector<model::StepFacts>& steps,
    const ArmLog& eager);

}  // namespace graphsan::run
