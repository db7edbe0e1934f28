#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/run_report.hpp"

namespace graphsan::reports::json {

/// Differences of one kind that are listed for a case; `total` counts them all.
inline constexpr std::size_t kMaxListed = 256;

/// A number, or null for what JSON cannot say (NaN, infinities).
[[nodiscard]] nlohmann::ordered_json number(double value);

/// One element of `cases[]` in docs/report.schema.json.
[[nodiscard]] nlohmann::ordered_json case_json(const model::CaseReport& report);

/// `findings[]` of a case.
[[nodiscard]] nlohmann::ordered_json findings_json(const std::vector<model::Finding>& findings);

/// `row_differences`, `top_k` and `outputs` of a case.
[[nodiscard]] nlohmann::ordered_json row_differences_json(const model::Facts& facts);
[[nodiscard]] nlohmann::ordered_json top_k_json(const model::Facts& facts);
[[nodiscard]] nlohmann::ordered_json outputs_json(const model::Facts& facts);

}  // namespace graphsan::reports::json
