#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/case_request.hpp"
#include "model/run_report.hpp"

namespace graphsan::check {

/// The smallest case found, and how often a smaller one was tried.
struct Minimized {
  CaseRequest request;
  model::CaseReport report;
  int tried = 0;
  std::vector<std::string> shrunk;  ///< `steps 4 to 2`, in order
};

/// Shrinks layers, steps, tokens and context, one after another and each as far as it goes, as long
/// as the case keeps its verdict and the mechanisms of its findings. A padded batch stays padded, a
/// full bucket full.
///
/// `check` runs one case; a case that it cannot run (ConfigError) is too small.
[[nodiscard]] Minimized minimize(const CaseRequest& request, const model::CaseReport& report,
                                 const std::function<model::CaseReport(const CaseRequest&)>& check);

}  // namespace graphsan::check
