#include "reports/html/page_data.hpp"

#include <algorithm>
#include <optional>

#include "reports/html/case_data.hpp"
#include "reports/html/row_data.hpp"

namespace graphsan::reports::html {
namespace {

using model::RunReport;

constexpr std::size_t kRoomPerCase = std::size_t{1} << 20;  ///< no case needs more to be readable

Json environment_json(const model::Environment& environment) {
  return Json{{"device", environment.device},
              {"device_name", environment.device_name},
              {"driver", environment.driver},
              {"cuda_runtime", environment.cuda_runtime},
              {"compute_capability", environment.compute_capability},
              {"conversion", environment.conversion},
              {"tracing", environment.tracing},
              {"operating_system", environment.operating_system}};
}

Json error_budget_json(const model::ErrorBudget& budget) {
  return Json{{"dtype", model::to_string(budget.dtype)},
              {"spread", number(budget.spread)},
              {"round_trip", number(budget.round_trip_mean_rel)},
              {"expected", number(budget.round_trip_expected)},
              {"attention", number(budget.attention_mean_rel)},
              {"normal", budget.normal},
              {"histogram", budget.histogram}};
}

Json capacity_json(const model::Capacity& capacity) {
  return Json{{"dtype", model::to_string(capacity.dtype)},
              {"bytes_per_token", capacity.bytes_per_token},
              {"memory_bytes", capacity.memory_bytes},
              {"tokens", capacity.tokens},
              {"basis", capacity.basis}};
}

Json lead_json(const RunReport& report, const Lead& lead) {
  if (!lead.case_at) return nullptr;
  Json json{{"case", *lead.case_at}};
  if (lead.finding) json["finding"] = *lead.finding;
  if (lead.row) {
    const model::RowDifference& row = report.cases[*lead.case_at].facts.rows[*lead.row];
    json["row"] = {row.step, row.cache, row.row};
  }
  return json;
}

Json run_json(const RunReport& report) {
  Json json{{"tool_version", report.tool_version},
            {"scenario", report.scenario},
            {"command", report.command},
            {"started_at", report.started_at},
            {"seconds", number(report.seconds)},
            {"complete", report.complete},
            {"incomplete_reason", report.incomplete_reason},
            {"verdict", model::to_string(report.verdict)},
            {"exit_code", report.exit_code},
            {"environment", environment_json(report.environment)},
            {"limits", report.limits},
            {"error_budgets", Json::array()},
            {"capacities", Json::array()}};
  for (const auto& budget : report.error_budgets)
    json["error_budgets"].push_back(error_budget_json(budget));
  for (const auto& capacity : report.capacities)
    json["capacities"].push_back(capacity_json(capacity));
  return json;
}

std::size_t weight(const model::CaseReport& report) {
  return report.verdict == model::Verdict::kAgreed ? 1 : 8;
}

}  // namespace

std::string page_data(const RunReport& report, std::size_t max_bytes) {
  const Lead lead = choose_lead(report);
  Json json = run_json(report);
  json["lead"] = lead_json(report, lead);
  json["cases"] = Json::array();
  std::size_t weights = 0;
  for (const model::CaseReport& each : report.cases) {
    json["cases"].push_back(case_summary(each));
    weights += weight(each);
  }
  const std::size_t used = to_script_text(json).size();
  Budget room{max_bytes > used ? max_bytes - used : 0};
  const std::size_t unit = weights == 0 ? 0 : room.left() / weights;
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    const model::CaseReport& each = report.cases[i];
    const bool leads = lead.case_at == i;
    const Budget share{std::min(unit * weight(each), kRoomPerCase)};
    Json details{{"details", case_details(each, leads ? lead.row : std::nullopt, share)}};
    if (room.take(details)) json["cases"][i].update(details);
  }
  return to_script_text(json);
}

}  // namespace graphsan::reports::html
