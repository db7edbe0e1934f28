#pragma once

#include "model/run_report.hpp"

namespace graphsan::check {

/// What the built-in or a foreign step has that an agreement must prove.
struct ProofNeeds {
  bool selects_blocks = false;
  std::int64_t block_size = 0;
  int top_k = 0;
  /// A step of somebody's own: its context is what its lanes' positions say, where they are known,
  /// and reasons name no option of the command line.
  bool foreign = false;
};

/// Sets verdict and reason of a case from its facts and findings.
///
/// Diverged: rows, true top-k mismatches or outputs differ. Agreed only with the proof of
/// docs/how-it-works.md, "Agreed needs proof"; otherwise inconclusive, and the reason says what is
/// lacking.
void judge(model::CaseReport& report, const ProofNeeds& needs);

/// The finding says of every difference of its case that it is rounding.
[[nodiscard]] bool excuses_all(const model::Finding& finding);

}  // namespace graphsan::check
