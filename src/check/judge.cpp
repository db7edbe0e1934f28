#include "check/judge.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/eager_fault.hpp"

namespace graphsan::check {

namespace {

using model::Facts;

bool is_set_level(const model::RowDifference& row) {
  return row.row_class == model::RowClass::kMissing || row.row_class == model::RowClass::kStray;
}

/// Only the carried pass differs, and the capture left rows behind that history does not cover.
bool left_by_capture(const Facts& facts) {
  const bool carried = facts.rows.empty() &&
                       std::all_of(facts.top_k.begin(), facts.top_k.end(),
                                   [](const model::TopKDifference& d) { return d.carried; }) &&
                       std::all_of(facts.outputs.begin(), facts.outputs.end(),
                                   [](const model::OutputDifference& d) { return d.carried; });
  return carried && std::any_of(facts.capture_changes.begin(), facts.capture_changes.end(),
                                [](const model::CaptureChange& change) {
                                  return !change.overwritten_by_history;
                                });
}

bool differs(const Facts& facts) {
  const bool selection =
      std::any_of(facts.top_k.begin(), facts.top_k.end(),
                  [](const model::TopKDifference& d) { return d.kind != model::TopKKind::kTie; });
  return !facts.rows.empty() || facts.rows_dropped != 0 || selection || !facts.outputs.empty();
}

bool is_finding(const model::Finding& finding, std::initializer_list<std::string_view> mechanisms) {
  return std::find(mechanisms.begin(), mechanisms.end(), finding.mechanism) != mechanisms.end();
}

bool is_harmless(const model::CaseReport& report) {
  return !report.findings.empty() && report.facts.rows_dropped == 0 &&
         std::all_of(report.findings.begin(), report.findings.end(),
                     [](const model::Finding& finding) {
                       return is_finding(finding, {"numeric-noise", "topk-tie"});
                     });
}

bool is_wrong_everywhere(const model::CaseReport& report) {
  return std::any_of(
      report.findings.begin(), report.findings.end(),
      [](const model::Finding& finding) { return is_finding(finding, {"wrong-everywhere"}); });
}

/// Tokens of the longest context that a lane of the run has; nothing where a foreign step tells no
/// positions.
std::optional<std::int64_t> context_of(const model::CaseReport& report, const ProofNeeds& needs) {
  if (!needs.foreign) return report.config.context;
  std::int64_t last = -1;
  for (const model::StepFacts& step : report.facts.steps) {
    for (const model::Lane& lane : step.lanes) {
      if (lane.real) last = std::max(last, lane.position);
    }
  }
  return last < 0 ? std::nullopt : std::optional{last + 1};
}

std::optional<std::string> untested_selection(const model::CaseReport& report,
                                              const ProofNeeds& needs) {
  const std::int64_t selected = static_cast<std::int64_t>(needs.top_k) * needs.block_size;
  const std::optional<std::int64_t> context = context_of(report, needs);
  if (!needs.selects_blocks || !context || *context > selected) return std::nullopt;
  const std::string remedy =
      needs.foreign
          ? "Give a lane a position of " + std::to_string(selected) + " or more, with its history"
          : "Use --context " + std::to_string(2 * selected);
  return "the context of " + std::to_string(*context) +
         " tokens has no more blocks than top-k selects, so the selection was not tested. " +
         remedy;
}

/// What is lacking for "agreed", or nothing.
std::optional<std::string> missing_proof(const model::CaseReport& report, const ProofNeeds& needs) {
  const Facts& facts = report.facts;
  if (facts.replays == 0) {
    return needs.foreign ? "no step was replayed as a graph: each batch names a reason to run "
                           "eagerly. Give one none"
                         : "no step was replayed as a graph: the mode runs all of them eagerly. "
                           "Choose another --mode, or a smaller batch";
  }
  if (facts.replays < 2) {
    return std::string{"one replay proves little: inputs must change between replays. "} +
           (needs.foreign ? "Give the step 2 batches or more" : "Use --steps 2 or more");
  }
  if (report.config.carry && left_by_capture(facts)) {
    return "warm-up or capture left rows as they are, and with --carry a write of the same bytes "
           "there does not show. Run without --carry";
  }
  if (facts.rows_compared == 0) {
    return "no row was compared: the step's slot mapping names none and nothing was written";
  }
  std::set<std::uint64_t> inputs;
  for (const model::StepFacts& step : facts.steps) {
    if (!step.covered) continue;
    inputs.insert(step.input_digest);
    if (step.replayed_nodes == 0) {
      return "the graph of step " + std::to_string(step.step) +
             " has no nodes: nothing was captured, so nothing was compared";
    }
    if (!step.nonce_overwritten) {
      return "an output of step " + std::to_string(step.step) +
             " still holds the nonce placed before the replay: the graph did not write it, and "
             "neither did eager";
    }
  }
  if (inputs == std::set<std::uint64_t>{0}) {
    return "the step declares no inputs, so nothing shows that they changed between replays. "
           "Declare what prepare() refills";
  }
  if (inputs.size() < 2) return "the inputs were the same for every replay";
  return untested_selection(report, needs);
}

}  // namespace

bool excuses_all(const model::Finding& finding) { return is_finding(finding, {"numeric-noise"}); }

void judge(model::CaseReport& report, const ProofNeeds& needs) {
  const Facts& facts = report.facts;
  const bool set_level = std::any_of(facts.rows.begin(), facts.rows.end(), is_set_level);
  if (facts.stability.ran && !facts.stability.stable && !set_level) {
    report.verdict = model::Verdict::kInconclusive;
    report.reason =
        "eager does not agree with itself: two equal passes differ in " +
        std::to_string(facts.stability.rows_differing) +
        " rows, so no value can be blamed on the graph. Make eager deterministic (no float "
        "atomics, fixed split sizes), or look at missing and stray rows only";
    return;
  }
  const bool harmless = is_harmless(report);
  if (!harmless && differs(facts)) {
    report.verdict = model::Verdict::kDiverged;
    const model::EagerFault eager = model::eager_fault(facts);
    if (eager == model::EagerFault::kSameInGraph) {
      report.reason =
          "the arms agree, but eager itself does not write what the slot mapping names: the graph "
          "is not to blame";
    } else if (eager == model::EagerFault::kNotInGraph) {
      report.reason =
          "eager itself leaves out rows that the slot mapping names, and the graph writes them: "
          "the "
          "graph is not to blame";
    } else if (report.findings.empty() && left_by_capture(facts)) {
      report.reason =
          "every row is written rightly; what differs follows from rows that warm-up or capture "
          "overwrote and nothing restored (see the notes)";
    } else if (report.findings.empty()) {
      report.reason = "eager and graph differ, and no mechanism that is known explains it";
    }
    return;
  }
  if (const std::optional<std::string> lacking = missing_proof(report, needs)) {
    report.verdict = model::Verdict::kInconclusive;
    report.reason = *lacking;
    return;
  }
  if (is_wrong_everywhere(report)) {
    report.verdict = model::Verdict::kDiverged;
    report.reason =
        "eager and graph agree, and both differ from the reference: the graph is not to blame";
    return;
  }
  if (!harmless && !report.findings.empty()) {
    report.verdict = model::Verdict::kHazard;
    report.reason = "all rows agree, but a finding stands";
    return;
  }
  report.verdict = model::Verdict::kAgreed;
}

}  // namespace graphsan::check
