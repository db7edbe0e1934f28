#include "model/run_report.hpp"

namespace graphsan::model {

void conclude(RunReport& report) {
  std::vector<Verdict> verdicts;
  bool failed = !report.complete;
  for (const CaseReport& item : report.cases) {
    const bool unproven = item.failure.has_value() && item.verdict == Verdict::kAgreed;
    verdicts.push_back(unproven ? Verdict::kInconclusive : item.verdict);
    failed = failed || item.failure.has_value();
  }
  report.verdict = combine(verdicts);
  if (!report.complete && report.verdict == Verdict::kAgreed) {
    report.verdict = Verdict::kInconclusive;
  }
  report.exit_code = failed ? kExitFailed : exit_code(report.verdict);
}

}  // namespace graphsan::model
