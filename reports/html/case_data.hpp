#pragma once

#include <optional>

#include "model/run_report.hpp"
#include "reports/html/json_values.hpp"

namespace graphsan::reports::html {

/// What the matrix needs of a case: words, verdict, mechanisms, figures. Always in the page.
[[nodiscard]] Json case_summary(const model::CaseReport& report);

/// What the case's own panels show. Lists are cut to the budget and say how much they left out;
/// `proof` is the index of the differing row that must be among the listed ones.
[[nodiscard]] Json case_details(const model::CaseReport& report, std::optional<std::size_t> proof,
                                Budget budget);

}  // namespace graphsan::reports::html
