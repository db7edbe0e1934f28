#include <nlohmann/json.hpp>
#include <ostream>

#include "reports/json/case_json.hpp"
#include "reports/reports.hpp"

namespace graphsan::reports {
namespace {

using Json = nlohmann::ordered_json;

Json environment_json(const model::Environment& environment) {
  return Json{{"driver", environment.driver},
              {"cuda_runtime", environment.cuda_runtime},
              {"compute_capability", environment.compute_capability},
              {"conversion", environment.conversion},
              {"tracing", environment.tracing},
              {"operating_system", environment.operating_system}};
}

Json budgets_json(const std::vector<model::ErrorBudget>& budgets) {
  Json list = Json::array();
  for (const model::ErrorBudget& budget : budgets) {
    list.push_back(Json{{"dtype", to_string(budget.dtype)},
                        {"spread", json::number(budget.spread)},
                        {"round_trip_mean_rel", json::number(budget.round_trip_mean_rel)},
                        {"round_trip_expected", json::number(budget.round_trip_expected)},
                        {"attention_mean_rel", json::number(budget.attention_mean_rel)},
                        {"normal", budget.normal},
                        {"histogram", budget.histogram}});
  }
  return list;
}

Json capacities_json(const std::vector<model::Capacity>& capacities) {
  Json list = Json::array();
  for (const model::Capacity& capacity : capacities) {
    list.push_back(Json{{"dtype", to_string(capacity.dtype)},
                        {"bytes_per_token", capacity.bytes_per_token},
                        {"memory_bytes", capacity.memory_bytes},
                        {"tokens", capacity.tokens},
                        {"basis", capacity.basis}});
  }
  return list;
}

Json matrix_json(const std::optional<model::ConfusionMatrix>& matrix) {
  if (!matrix) return nullptr;
  return Json{
      {"counts", matrix->counts}, {"confirmed", matrix->confirmed}, {"wrong", matrix->wrong}};
}

Json run_json(const model::RunReport& report) {
  Json document;
  document["schema_version"] = kJsonSchemaVersion;
  document["tool_version"] = report.tool_version;
  document["scenario"] = report.scenario;
  document["command"] = report.command;
  document["started_at"] = report.started_at;
  document["device"] = report.environment.device;
  document["device_name"] = report.environment.device_name;
  document["environment"] = environment_json(report.environment);
  document["verdict"] = to_string(report.verdict);
  document["exit_code"] = report.exit_code;
  document["complete"] = report.complete;
  document["incomplete_reason"] = report.incomplete_reason;
  document["cases"] = Json::array();
  for (const model::CaseReport& item : report.cases) {
    document["cases"].push_back(json::case_json(item));
  }
  document["error_budgets"] = budgets_json(report.error_budgets);
  document["capacities"] = capacities_json(report.capacities);
  document["limits"] = report.limits;
  document["seconds"] = json::number(report.seconds);
  document["confusion_matrix"] = matrix_json(report.confusion);
  return document;
}

class JsonReport final : public ReportWriter {
 public:
  void write(const model::RunReport& report, std::ostream& out) const override {
    out << run_json(report).dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_json_report() { return std::make_unique<JsonReport>(); }

}  // namespace graphsan::reports
