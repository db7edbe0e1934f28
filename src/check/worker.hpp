#pragma once

#include <cstdint>
#include <vector>

#include "check/case_check.hpp"
#include "check/device_choice.hpp"

namespace graphsan::check {

/// What a worker needs; a forked child inherits it.
struct WorkerSetup {
  const std::vector<CaseRequest>* cases = nullptr;
  StepFactory factory;
  CaseAdmission admit;  ///< asked for every case before the first is served; empty: all may run
  DeviceChoice device = DeviceChoice::kAuto;
  std::uint64_t seed = 1;
};

/// Opens the device, has all cases admitted, then serves cases until the pipe ends: reads commands
/// from `commands` and writes frames to `events`. Leaves when the device is lost, since nothing
/// that it says afterwards can be trusted. Returns the exit status.
[[nodiscard]] int serve_cases(const WorkerSetup& setup, int commands, int events);

}  // namespace graphsan::check
