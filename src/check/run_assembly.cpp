#include "check/run_assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "step/minimax_m3/error_budget.hpp"

namespace graphsan::check {

namespace {

/// Spreads of the attention logits for which the error of attention is stated: plain normal data,
/// and what the seed's figure of 12 to 16 % for e5m2 needs.
constexpr double kSpreads[] = {1.0, 3.0};

std::vector<model::ErrorBudget> budgets_for(const std::vector<CaseRequest>& cases) {
  std::set<model::DType> dtypes;
  for (const CaseRequest& request : cases) dtypes.insert(request.config.kv_dtype);
  std::vector<model::ErrorBudget> budgets;
  for (const model::DType dtype : dtypes) {
    for (const double spread : kSpreads) {
      budgets.push_back(step::minimax_m3::measure_error_budget(dtype, spread, 1));
    }
  }
  return budgets;
}

std::vector<std::string> limits_of(const std::vector<CaseRequest>& cases) {
  const bool built_in = cases.empty() || cases.front().plugin.empty();
  std::vector<std::string> limits{fmt::format(
      "hashed: the rows of every declared cache, their guard zones, {} of real lanes; not hashed: "
      "activations between ops, weights, pad lanes of outputs",
      built_in ? "top-k and outputs" : "declared outputs")};
  return limits;
}

bool replays(const model::CaseReport& report) { return report.facts.replays > 0; }

bool pads(const model::CaseReport& report) {
  const std::vector<model::StepFacts>& steps = report.facts.steps;
  return std::any_of(steps.begin(), steps.end(), [](const model::StepFacts& step) {
    return step.covered && step.bucket > step.tokens;
  });
}

}  // namespace

RunAssembly::RunAssembly(const CheckOptions& options) : options_{&options} {
  report_.tool_version = GRAPHSAN_VERSION;
  report_.scenario = options.scenario;
  report_.command = options.command;
  report_.started_at = options.started_at;
  report_.limits = limits_of(options.cases);
  if (!options.cases.empty() && options.cases.front().plugin.empty()) {
    report_.capacities = capacities(options.cases.front().config.tp);
  }
  if (options.recording) {
    recording_ = std::make_unique<record::RecordingWriter>(*options.recording);
  }
}

void RunAssembly::begin(const model::Environment& environment) {
  report_.environment = environment;
  if (options_->error_budgets) report_.error_budgets = budgets_for(options_->cases);
  if (recording_) recording_->begin(report_);
  begun_ = true;
}

void RunAssembly::add(const model::CaseReport& one) {
  if (recording_) recording_->add_case(one);
}

model::RunReport RunAssembly::finish(std::vector<model::CaseReport> cases, const std::string& why) {
  report_.cases = std::move(cases);
  const std::vector<model::CaseReport>& all = report_.cases;
  if (std::any_of(all.begin(), all.end(), replays) && std::none_of(all.begin(), all.end(), pads)) {
    report_.limits.push_back("no case pads its batch: padding was not tested");
  }
  if (!why.empty()) {
    report_.complete = false;
    report_.incomplete_reason = why;
  }
  report_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  model::conclude(report_);
  if (recording_ && begun_) recording_->finish(report_);
  return std::move(report_);
}

}  // namespace graphsan::check
