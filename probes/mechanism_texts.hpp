#pragma once

#include <string_view>

#include "diagnose/probe.hpp"

namespace graphsan::probes {

/// The README of a mechanism's folder, embedded at build time. Throws std::out_of_range for an id
/// without one.
[[nodiscard]] diagnose::MechanismText mechanism_text(std::string_view id);

}  // namespace graphsan::probes
