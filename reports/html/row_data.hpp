#pragma once

#include <cstdint>
#include <optional>

#include "model/run_report.hpp"
#include "reports/html/json_values.hpp"

namespace graphsan::reports::html {

/// The row that proves the run's verdict: a case, its finding, and an index into its differing
/// rows. Each part is empty where the report has none.
struct Lead {
  std::optional<std::size_t> case_at;
  std::optional<std::size_t> finding;
  std::optional<std::size_t> row;
};

/// Chooses the first diverged case (else the first hazard), its first confirmed finding (else its
/// first), and the first row that the finding names, one with bytes before one without.
[[nodiscard]] Lead choose_lead(const model::RunReport& report);

/// The slot map's colours: for each step, cache and class, how many rows differ, which, and where
/// their bytes come from. Covers every differing row, unlike row_details().
[[nodiscard]] Json row_classes(const model::Facts& facts, std::size_t max_ranges);

/// Rows named by the slot mapping, changed by eager and changed by the graph, per step and cache.
[[nodiscard]] Json write_sets(const model::Facts& facts, std::size_t max_ranges);

/// Digests, origin, owner and bytes of as many differing rows as the budget allows: `first`, then
/// rows that findings name, then each (step, cache, class) in turn. `left_out` counts the others,
/// `without_bytes` those listed without bytes to save room.
[[nodiscard]] Json row_details(const model::CaseReport& report, std::optional<std::size_t> first,
                               Budget budget);

}  // namespace graphsan::reports::html
