#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "check/run_check.hpp"
#include "model/run_report.hpp"
#include "record/recording.hpp"

namespace graphsan::check {

/// Puts a run's report together as its cases end, and keeps its recording, whoever runs them.
class RunAssembly {
 public:
  /// Opens the recording, so that a path that cannot be used costs nothing; an earlier recording is
  /// kept until begin(). `options` must outlive this. Throws record::RecordingError and UsageError.
  explicit RunAssembly(const CheckOptions& options);

  /// The device is open and every case is admitted.
  void begin(const model::Environment& environment);
  /// A case has ended.
  void add(const model::CaseReport& one);
  /// Concludes: `cases` are those that ended, in their order. An interruption is told by `why`,
  /// which is empty where all ran.
  [[nodiscard]] model::RunReport finish(std::vector<model::CaseReport> cases,
                                        const std::string& why);

 private:
  const CheckOptions* options_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  model::RunReport report_;
  std::unique_ptr<record::RecordingWriter> recording_;
  bool begun_ = false;
};

}  // namespace graphsan::check
