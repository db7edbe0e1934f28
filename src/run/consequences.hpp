#pragma once

#include <set>
#include <vector>

#include "model/facts.hpp"
#include "run/arm_log.hpp"

namespace graphsan::run {

/// Top-k rows of the covered steps in which two arms differ, as sets per (real lane, head), ordered
/// by step, layer, lane, head.
///
/// A tie is judged on eager's scores: the swapped ids differ there by at most `noise`. `carried`
/// marks the differences as seen in the carried pass.
[[nodiscard]] std::vector<model::TopKDifference> compare_selections(
    const std::vector<model::StepFacts>& steps, const ArmLog& eager, const ArmLog& graph,
    float noise, bool carried);

/// Outputs of real lanes of the covered steps in which two arms differ.
[[nodiscard]] std::vector<model::OutputDifference> compare_outputs(
    const std::vector<model::StepFacts>& steps, const ArmLog& eager, const ArmLog& graph,
    bool carried);

/// Marks the selections and outputs of the local pass that the padded batch run eagerly shows too.
void mark_paddings(model::Facts& facts, const ArmLog& padded_eager, const ArmLog& graph);

/// The causal chain over everything found: index-K write, K/V write, score, top-k, blocks read,
/// output, next layer, without the links that the step does not have; the link that broke first, by
/// step, layer and stage, is marked. Empty where nothing is broken. `outputs` are the kinds of
/// output that were compared: selections, attention's outputs, both or none.
[[nodiscard]] std::vector<model::ChainLink> build_chain(const model::Facts& facts,
                                                        const std::set<model::CacheKind>& outputs);

}  // namespace graphsan::run
