#include "check/run_check.hpp"

#include <fmt/format.h>

#include <utility>

#include "check/run_assembly.hpp"

namespace graphsan::check {

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

std::uint64_t seed_of(const CheckOptions& options) {
  return options.cases.empty() ? 1 : options.cases.front().config.seed;
}

model::RunReport run_check(const CheckOptions& options) {
  RunAssembly assembly{options};
  SupervisorOptions supervisor;
  supervisor.worker = {&options.cases, options.factory, options.admit, options.device,
                       seed_of(options)};
  supervisor.jobs = options.jobs;
  supervisor.watchdog_seconds = options.watchdog_seconds;
  supervisor.on_progress = options.on_progress;
  supervisor.interrupted = options.interrupted;
  supervisor.on_environment = [&](const model::Environment& environment) {
    assembly.begin(environment);
  };
  supervisor.on_case = [&](const model::CaseReport& one) { assembly.add(one); };
  SupervisorResult result = supervise(supervisor);
  std::vector<model::CaseReport> ended;
  for (std::optional<model::CaseReport>& one : result.cases) {
    if (one) ended.push_back(std::move(*one));
  }
  const std::string why = result.interrupted ? fmt::format("interrupted after {} of {} cases",
                                                           ended.size(), options.cases.size())
                                             : std::string{};
  return assembly.finish(std::move(ended), why);
}

}  // namespace graphsan::check
