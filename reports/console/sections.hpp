#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_report.hpp"
#include "reports/console/text.hpp"

namespace graphsan::reports::console {

/// Several cases, borrowed from a report.
using Cases = std::vector<const model::CaseReport*>;

/// Verdict, proof, failure and what differs of one case.
[[nodiscard]] std::string case_facts(const model::CaseReport& report, const Paint& paint);

/// The findings of `cases`, numbered, ordered by what broke first. Findings that say the same are
/// said once, with the cases that show it when `cases` has several.
[[nodiscard]] std::string findings_section(const Cases& cases, const Paint& paint);

/// One table for each group of cases: kv dtype and write path (and what else varies) down, modes
/// across; a cell says `agreed`, the mechanisms found, or how the case ended.
[[nodiscard]] std::string matrix_section(const Cases& cases, const Paint& paint);

/// How many cases ended in the run's verdict, and that verdict.
[[nodiscard]] std::string verdict_line(const model::RunReport& report, const Paint& paint);

/// Cases that failed, or are not agreed and have no finding: failures, reasons, what differs.
[[nodiscard]] std::string unexplained_section(const Cases& cases, const Paint& paint);

/// The causal chains that are broken.
[[nodiscard]] std::string chain_section(const Cases& cases, const Paint& paint);

/// `heading` and one bullet for each line that `lines_of` gives for a case; equal lines are said
/// once, with the number of cases when it is not all of them, and of very many only the first.
[[nodiscard]] std::string shared_lines(
    std::string_view heading, const Cases& cases, const Paint& paint,
    const std::function<std::vector<std::string>(const model::CaseReport&)>& lines_of);

/// Step times of the cases in which they were measured; empty when in none.
[[nodiscard]] std::string timing_section(const Cases& cases, const Paint& paint);

}  // namespace graphsan::reports::console
