#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "device/device.hpp"
#include "model/event.hpp"

namespace graphsan::check {

/// What to do about a device's refusal of a call made in `phase`, by a step that is GraphSan's own
/// or not.
[[nodiscard]] std::string remedy_for(device::ErrorKind kind, model::Phase phase, bool foreign);

/// What to do about a worker that a signal ended while its case was in `phase`; `cases` is how many
/// the run has.
[[nodiscard]] std::string remedy_for_crash(std::string_view phase, std::size_t cases);

/// What to do about a worker that ended or was killed otherwise.
[[nodiscard]] std::string remedy_for_end(std::size_t cases);

}  // namespace graphsan::check
