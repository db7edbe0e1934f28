#pragma once

#include "run/arm_runner.hpp"
#include "run/case_run.hpp"

namespace graphsan::diagnose {

/// Whether `step` replays segments with the nodes that Facts::segments shows: the same types and
/// names in creation order, so that a node's number means the same there. Another bucket's graph
/// may have them, with other grids and arguments; a graph that merely has as many nodes has not.
[[nodiscard]] bool replays_shown_nodes(run::ArmRunner& runner, const run::CaseRun& run, int step);

}  // namespace graphsan::diagnose
