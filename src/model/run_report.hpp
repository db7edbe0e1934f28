#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.hpp"
#include "model/finding.hpp"
#include "model/verdict.hpp"

namespace graphsan::model {

/// The words that name a case, as the command line spells them.
struct CaseConfig {
  std::string step = "minimax-m3";
  std::string kv_dtype;
  std::string write_path;
  std::string mode;
  std::string batch;
  std::string layout;
  std::string generation;
  std::string convert;
  std::string fault;  ///< planted fault as asked for, or empty
  int tokens = 0;
  int bucket = 0;
  int steps = 0;
  int layers = 0;
  int tp = 0;
  int page_size = 0;
  std::int64_t context = 0;
  std::uint64_t seed = 0;
  bool carry = false;
  [[nodiscard]] bool padded() const { return bucket > tokens; }
};

/// A case that ended without an answer about the step.
struct Failure {
  std::string phase;  ///< `capture`, `replay` ...
  int step = -1;
  std::string what;
  std::string remedy;
};

/// Wall time of one step, median over the replays of a case; 0 where not measured.
struct StepTiming {
  double eager_ms = 0;
  double graph_ms = 0;
};

/// One case of the matrix.
struct CaseReport {
  int index = 0;
  std::string group;  ///< heading under which it is shown: `padded`, `full bucket`, `needle` ...
  std::string title;
  CaseConfig config;
  std::string reproduce;  ///< command line that runs this case alone
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;  ///< inconclusive, hazard or failed: why, and what to do
  std::optional<Failure> failure;
  Facts facts;
  std::vector<Finding> findings;
  std::vector<RuledOut> ruled_out;
  std::vector<ExperimentRecord> experiments;
  std::vector<std::string> notes;
  std::vector<std::string> not_covered;
  StepTiming timing;
  double seconds = 0;
};

/// Bytes that one token takes in all caches, and how many tokens fit.
struct Capacity {
  DType dtype = DType::kBf16;
  std::uint64_t bytes_per_token = 0;
  std::uint64_t memory_bytes = 0;  ///< the budget that the count refers to
  std::uint64_t tokens = 0;
  std::string basis;  ///< layers, TP and budget in words
};

struct Environment {
  std::string device;  ///< `host` or `cuda`
  std::string device_name;
  std::string driver;
  std::string cuda_runtime;
  std::string compute_capability;
  std::string conversion;  ///< fp8 conversion in use: `native` or `software`
  std::string tracing;     ///< whether CUPTI is there; what is lost if not
  std::string operating_system;
};

/// What a run over planted faults found: planted × found.
struct ConfusionMatrix {
  std::map<std::string, std::map<std::string, int>>
      counts;                            ///< planted → found → cases; `none` too
  std::map<std::string, int> confirmed;  ///< planted → cases confirmed
  std::vector<std::string> wrong;        ///< what is off the diagonal, in words
};

/// What a run found; everything that a report may say.
struct RunReport {
  std::string tool_version;
  std::string scenario;
  std::string command;
  std::string started_at;  ///< ISO 8601, UTC; passed in, so that reports are byte-stable
  Environment environment;
  Verdict verdict = Verdict::kInconclusive;
  int exit_code = kExitInconclusive;
  bool complete = true;
  std::string incomplete_reason;
  std::vector<CaseReport> cases;
  std::vector<ErrorBudget> error_budgets;
  std::vector<Capacity> capacities;
  std::vector<std::string> limits;  ///< what was not hashed or not covered in the whole run
  std::optional<ConfusionMatrix> confusion;  ///< selftest only
  double seconds = 0;
};

/// Sets verdict and exit_code from the cases. The exit code is 4 when a case failed or the run is
/// incomplete; an incomplete run is never agreed.
void conclude(RunReport& report);

}  // namespace graphsan::model
