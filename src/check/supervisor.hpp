#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/worker.hpp"
#include "model/run_report.hpp"

namespace graphsan::check {

/// Where a run is, for a progress display.
struct Progress {
  std::size_t done = 0;
  std::size_t total = 0;
  int case_index = -1;
  std::string phase;
  int step = -1;
};

struct SupervisorOptions {
  WorkerSetup worker;
  int jobs = 1;                   ///< workers at once on the host device; a GPU gets one
  double watchdog_seconds = 120;  ///< without a sign of life a worker is killed
  std::function<void(const Progress&)> on_progress;
  std::function<void(const model::Environment&)> on_environment;
  std::function<void(const model::CaseReport&)> on_case;  ///< in the order in which cases end
  std::function<bool()> interrupted;                      ///< asked often; true stops the run
};

struct SupervisorResult {
  std::optional<model::Environment> environment;
  std::vector<std::optional<model::CaseReport>> cases;  ///< empty: not run
  bool interrupted = false;
};

/// Runs cases in worker processes that it forks; never initialises CUDA itself. A worker that dies,
/// hangs or loses its device costs the case it was at; a fresh one goes on with the next.
///
/// Throws ConfigError when a case cannot be run as asked for, NoGpuError, and std::runtime_error
/// when no worker can be started. Call it while the process has one thread.
[[nodiscard]] SupervisorResult supervise(const SupervisorOptions& options);

}  // namespace graphsan::check
