#pragma once

#include <cstddef>
#include <string>

#include "model/run_report.hpp"

namespace graphsan::reports::html {

/// The JSON text that the page reads, safe inside a script element, at most `max_bytes` long where
/// the cases' summaries allow it.
///
/// Cases that diverged get more room than those that agreed. Details that do not fit are left out
/// whole for the last cases, which then say so.
[[nodiscard]] std::string page_data(const model::RunReport& report, std::size_t max_bytes);

}  // namespace graphsan::reports::html
