#pragma once

#include "check/run_check.hpp"

namespace graphsan::check {

/// run_check() without workers: runs all cases in the calling process, one after another, on the
/// calling thread. `jobs`, `watchdog_seconds`, `on_progress` and `interrupted` do not count.
///
/// A step that crashes or hangs takes the process with it. A case after which the device cannot be
/// used ends the run; the report says so. Throws as run_check() does, and DeviceError where the
/// device does not open.
[[nodiscard]] model::RunReport check_in_process(const CheckOptions& options);

}  // namespace graphsan::check
