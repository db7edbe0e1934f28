#pragma once

#include "model/run_report.hpp"

namespace graphsan::check {

/// What the built-in or a foreign step has that an agreement must prove.
struct ProofNeeds {
  bool selects_blocks = false;
  std::int64_t block_size = 0;
  int top_k = 0;
};

/// Sets verdict and reason of a case from its facts and findings.
///
/// Diverged: rows, true top-k mismatches or outputs differ. Agreed only with the proof of
/// docs/how-it-works.md, "Agreed needs proof"; otherwise inconclusive, and the reason says what is
/// lacking.
void judge(model::CaseReport& report, const ProofNeeds& needs);

}  // namespace graphsan::check
