#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/event.hpp"
#include "model/facts.hpp"
#include "model/run_report.hpp"
#include "run/arm_runner.hpp"

namespace graphsan::run {

struct CaseOptions {
  /// Carry the damage on without resync as the only graph pass.
  bool carry = false;
  /// Run the padded-eager arm, which only attributes.
  bool padded_eager = true;
  /// Capture between two requests, over live rows, instead of before the first.
  bool capture_over_history = false;
  step::CaptureRequest capture;
};

/// The arms of one case with their logs, and what the comparison found.
///
/// `facts` lacks segments, launches and their alignment, which need a trace.
struct CaseRun {
  ArmLog eager;
  std::optional<ArmLog> padded_eager;
  ArmLog graph;
  std::optional<ArmLog> carried;
  Capture capture;
  model::Facts facts;
  model::StepTiming timing;
  std::vector<std::string> notes;
  std::vector<std::string> not_covered;
};

/// Runs control, eager, padded-eager and graph arms and, where they differ or the capture left rows
/// changed, the carried pass; sorts the rows and builds the chain. Throws DeviceError.
[[nodiscard]] CaseRun run_case(ArmRunner& runner, const CaseOptions& options);

/// The rows in which a graph pass differs from eager, without looking up origins; what an
/// experiment asks after each of its passes.
[[nodiscard]] std::vector<model::RowDifference> differing(ArmRunner& runner, const ArmLog& eager,
                                                          const ArmLog& graph);

/// The batch of every step.
[[nodiscard]] std::vector<model::StepFacts> plans(const step::Step& step);

}  // namespace graphsan::run
