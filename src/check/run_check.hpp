#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/supervisor.hpp"
#include "model/run_report.hpp"

namespace graphsan::check {

struct CheckOptions {
  std::vector<CaseRequest> cases;
  DeviceChoice device = DeviceChoice::kAuto;
  StepFactory factory = make_builtin_step;
  CaseAdmission admit = admit_builtin_step;  ///< a factory of another step brings its own
  int jobs = 1;
  double watchdog_seconds = 120;
  std::string scenario;  ///< for the report
  std::string command;   ///< for the report
  std::string started_at;
  std::optional<std::filesystem::path> recording;
  bool error_budgets = true;  ///< measure the arithmetic's own error for every dtype of the cases
  std::function<void(const Progress&)> on_progress;
  std::function<bool()> interrupted;
};

/// Of the device that runs them: the first case's.
[[nodiscard]] std::uint64_t seed_of(const CheckOptions& options);

/// Runs all cases and reports. Cases are recorded as they end, so that an interrupted run leaves
/// what it had. Throws ConfigError, NoGpuError, record::RecordingError; see supervise().
[[nodiscard]] model::RunReport run_check(const CheckOptions& options);

/// The seed's experiment: the matrix of docs/minimax-m3.md, padded and with full buckets, then a
/// prompt with a needle in it, prefilled through a piecewise graph and decoded with the damage
/// carried: body A, index-K alone elided, and the fixed path.
[[nodiscard]] std::vector<CaseRequest> seed_scenario();

/// Bytes that a token of the whole model takes on one rank, and how many tokens fit, for each
/// dtype.
[[nodiscard]] std::vector<model::Capacity> capacities(int tp);

}  // namespace graphsan::check
