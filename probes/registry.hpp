#pragma once

#include "diagnose/probe.hpp"

namespace graphsan::probes {

/// Every mechanism that can be recognised, in the order in which probes are asked.
[[nodiscard]] diagnose::ProbeRegistry builtin_probes();

}  // namespace graphsan::probes
