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

/// The built-in step with the request's planted fault. Throws ConfigError when it needs more memory
/// than the device has.
[[nodiscard]] std::unique_ptr<step::Step> make_builtin_step(device::Device& device,
                                                            const CaseRequest& request);

/// Runs one case in this process: arms, diagnosis, verdict. A device failure is in the report; only
/// ConfigError leaves. `lost` is set when the device cannot be used any more.
[[nodiscard]] model::CaseReport check_case(device::Device& device, const CaseRequest& request,
                                           int index, const StepFactory& factory,
                                           model::Observer& observer, bool& lost);

}  // namespace graphsan::check
