#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "check/case_request.hpp"
#include "check/experiment_watch.hpp"
#include "device/device.hpp"
#include "model/event.hpp"
#include "model/run_report.hpp"
#include "step/step.hpp"

namespace graphsan::check {

/// Makes the step of a case on a device. Throws ConfigError for a case that cannot be run.
using StepFactory =
    std::function<std::unique_ptr<step::Step>(device::Device& device, const CaseRequest& request)>;

/// Judges whether a case can run on a device before any case does. Throws ConfigError.
using CaseAdmission = std::function<void(device::Device& device, const CaseRequest& request)>;

/// Throws ConfigError for numbers that make no step, for an unknown fault, and when the built-in
/// step needs more memory than the device has free. Allocates nothing on the device.
void admit_builtin_step(device::Device& device, const CaseRequest& request);

/// The built-in step with the request's planted fault. Throws ConfigError like
/// admit_builtin_step().
[[nodiscard]] std::unique_ptr<step::Step> make_builtin_step(device::Device& device,
                                                            const CaseRequest& request);

/// How a case ended in the process that ran it.
struct CaseResult {
  model::CaseReport report;
  /// This process should run no further case: the device cannot be used any more, or the step threw
  /// what it may not.
  bool lost = false;
  bool device_lost = false;
  /// The experiment that did that, and its words: `report` is then what was known before the
  /// experiments, and another process can learn more with that one left out.
  std::optional<std::string> lost_in;
  std::string lost_words;
};

/// Told of a case while it runs.
struct CaseWatch {
  model::Observer* observer = nullptr;
  ExperimentWatch experiments = {};
  /// Called before the first experiment, and before foreign code is asked for another capture, with
  /// the case as it is judged without; may be empty.
  std::function<void(const model::CaseReport&)> on_draft = nullptr;
  /// Called with a case that has its answer before its step goes, which may end the process; may be
  /// empty.
  std::function<void(const model::CaseReport&)> on_report = nullptr;
};

/// The one of two reports on one case that knows more: the later one, unless the earlier one shows
/// damage and the later failed or says less. The earlier then stands, with a note.
[[nodiscard]] model::CaseReport better_of(model::CaseReport earlier, model::CaseReport later);

/// Runs one case in this process: arms, diagnosis, verdict. A failure of the step or the device is
/// in the report; only ConfigError leaves.
[[nodiscard]] CaseResult check_case(device::Device& device, const CaseRequest& request, int index,
                                    const StepFactory& factory, const CaseWatch& watch);

}  // namespace graphsan::check
