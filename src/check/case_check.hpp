#pragma once

#include <functional>
#include <memory>

#include "check/case_request.hpp"
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

/// Runs one case in this process: arms, diagnosis, verdict. A failure of the step or the device is
/// in the report; only ConfigError leaves. `lost` is set when this process should run no further
/// case: the device cannot be used any more, or the step threw what it may not.
[[nodiscard]] model::CaseReport check_case(device::Device& device, const CaseRequest& request,
                                           int index, const StepFactory& factory,
                                           model::Observer& observer, bool& lost);

}  // namespace graphsan::check
