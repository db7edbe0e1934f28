#pragma once

#include "run/arm_runner.hpp"
#include "run/case_run.hpp"

namespace graphsan::diagnose {

/// Adds to `run.facts` what a trace knows: the segments of the graph that the first diverging step
/// replayed (the first covered one where none diverges) with every address resolved, the eager
/// launches of that step, their alignment, and the inputs' addresses and contents.
void add_trace_facts(run::ArmRunner& runner, run::CaseRun& run);

}  // namespace graphsan::diagnose
