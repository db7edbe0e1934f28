#include "check/run_check.hpp"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "record/recording.hpp"
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
  std::vector<std::string> limits{
      "hashed: the rows of every declared cache, their guard zones, top-k and outputs of real "
      "lanes; not hashed: activations between ops, weights, pad lanes of outputs"};
  bool needs_padding = false;
  for (const CaseRequest& request : cases) {
    needs_padding = needs_padding || request.config.bucket > request.config.tokens;
  }
  if (!needs_padding) limits.push_back("no case pads its batch: padding was not tested");
  return limits;
}

}  // namespace

std::vector<model::Capacity> capacities(int tp) {
  constexpr std::uint64_t kBudget = std::uint64_t{64} << 30;
  std::vector<model::Capacity> all;
  for (const model::DType dtype :
       {model::DType::kBf16, model::DType::kFp8E4M3, model::DType::kFp8E5M2}) {
    step::minimax_m3::Config config;
    config.kv_dtype = dtype;
    config.layers = 60;
    config.tp = tp;
    model::Capacity capacity;
    capacity.dtype = dtype;
    capacity.bytes_per_token = step::minimax_m3::bytes_per_token(config);
    capacity.memory_bytes = kBudget;
    capacity.tokens = kBudget / capacity.bytes_per_token;
    capacity.basis = fmt::format("60 layers, TP {}, 64 GiB for caches on a rank", tp);
    all.push_back(std::move(capacity));
  }
  return all;
}

model::RunReport run_check(const CheckOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  model::RunReport report;
  report.tool_version = GRAPHSAN_VERSION;
  report.scenario = options.scenario;
  report.command = options.command;
  report.started_at = options.started_at;
  report.limits = limits_of(options.cases);
  if (!options.cases.empty()) report.capacities = capacities(options.cases.front().config.tp);

  // Opened before a worker starts, so that a path that cannot be used costs nothing; it replaces
  // an earlier recording only once the device is open and every case is admitted.
  std::unique_ptr<record::RecordingWriter> recording;
  if (options.recording) {
    recording = std::make_unique<record::RecordingWriter>(*options.recording);
  }
  SupervisorOptions supervisor;
  supervisor.worker = {&options.cases, options.factory, options.admit, options.device,
                       options.cases.empty() ? 1 : options.cases.front().config.seed};
  supervisor.jobs = options.jobs;
  supervisor.watchdog_seconds = options.watchdog_seconds;
  supervisor.on_progress = options.on_progress;
  supervisor.interrupted = options.interrupted;
  supervisor.on_environment = [&](const model::Environment& environment) {
    report.environment = environment;
    if (options.error_budgets) report.error_budgets = budgets_for(options.cases);
    if (recording) recording->begin(report);
  };
  supervisor.on_case = [&](const model::CaseReport& one) {
    if (recording) recording->add_case(one);
  };
  SupervisorResult result = supervise(supervisor);
  for (std::optional<model::CaseReport>& one : result.cases) {
    if (one) report.cases.push_back(std::move(*one));
  }
  if (result.interrupted) {
    report.complete = false;
    report.incomplete_reason =
        fmt::format("interrupted after {} of {} cases", report.cases.size(), options.cases.size());
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  model::conclude(report);
  if (recording && result.environment) recording->finish(report);
  return report;
}

}  // namespace graphsan::check
