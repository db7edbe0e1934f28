#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/case_check.hpp"
#include "device/host/host_device.hpp"
#include "step/minimax_m3/minimax_m3_step.hpp"

namespace graphsan::test {

/// Remembers the phases that a case went through.
class PhaseList final : public model::Observer {
 public:
  void on_event(const model::Event& event) override {
    if (const auto* started = std::get_if<model::PhaseStarted>(&event.body)) {
      phases_.push_back(started->phase);
    }
  }
  [[nodiscard]] bool contains(model::Phase phase) const {
    return std::find(phases_.begin(), phases_.end(), phase) != phases_.end();
  }

 private:
  std::vector<model::Phase> phases_;
};

/// How a case ended, and what it went through.
struct CheckedCase {
  model::CaseReport report;
  PhaseList phases;
  bool lost = false;
};

/// Checks a case on a host device of its own.
inline CheckedCase check_on_host(const check::CaseRequest& request,
                                 const check::StepFactory& factory = check::make_builtin_step) {
  const std::unique_ptr<device::Device> device = device::make_host_device({});
  CheckedCase checked;
  check::CaseResult result =
      check::check_case(*device, request, 0, factory, {.observer = &checked.phases});
  checked.report = std::move(result.report);
  checked.lost = result.lost;
  return checked;
}

/// Makes the built-in step with a write path of the test's own.
inline check::StepFactory with_path(std::shared_ptr<const step::minimax_m3::InsertPath> path) {
  return [path](device::Device& device, const check::CaseRequest& request) {
    return std::make_unique<step::minimax_m3::MinimaxM3Step>(device, request.config,
                                                             step::minimax_m3::program_with(path));
  };
}

/// A decode case of 3 real lanes in a bucket of 4, or of 4 in 4.
inline check::CaseRequest decode_case(model::DType dtype, step::minimax_m3::WritePath path,
                                      step::minimax_m3::Mode mode, bool padded) {
  check::CaseRequest request;
  request.config.kv_dtype = dtype;
  request.config.write_path = path;
  request.config.mode = mode;
  request.config.tokens = padded ? 3 : 4;
  request.config.bucket = 4;
  return request;
}

/// The kinds of cache that each finding names.
inline std::map<std::string, std::set<model::CacheKind>> mechanisms(
    const model::CaseReport& report) {
  std::map<std::string, std::set<model::CacheKind>> found;
  for (const model::Finding& finding : report.findings) {
    for (const model::Where& place : finding.where) {
      found[finding.mechanism].insert(place.cache);
    }
  }
  return found;
}

/// Differing rows of a class.
inline std::vector<model::RowDifference> rows_of(const model::CaseReport& report,
                                                 model::RowClass row_class) {
  std::vector<model::RowDifference> rows;
  std::copy_if(report.facts.rows.begin(), report.facts.rows.end(), std::back_inserter(rows),
               [&](const model::RowDifference& row) { return row.row_class == row_class; });
  return rows;
}

}  // namespace graphsan::test
