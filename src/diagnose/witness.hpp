#pragma once

#include <exception>
#include <string>
#include <vector>

#include "model/graph.hpp"
#include "run/arm_runner.hpp"
#include "run/case_run.hpp"

namespace graphsan::diagnose {

/// In a handler: passes on an exception after which the device cannot be used. Any other, also one
/// of foreign code, costs what was to be learned and not the case.
void rethrow_if_lost(const std::exception& error);

/// Whether the step launches kernels past the device's interface, as foreign code does: the graph
/// of step `step` has kernel nodes, and the eager step launched none that the device knows of.
[[nodiscard]] bool launches_unseen(const run::CaseRun& run, int step);

/// What the tracer saw an eager arm launch in step `step`, in a further pass over all steps: names
/// and grids, but no arguments, addresses or sources. Empty, with a note, where there is no tracer.
[[nodiscard]] std::vector<model::Work> witnessed_launches(run::ArmRunner& runner, run::CaseRun& run,
                                                          step::Arm arm, int step);

}  // namespace graphsan::diagnose
