#include "reports/json/case_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace graphsan::reports::json {
namespace {

using Json = nlohmann::ordered_json;

Json failure_json(const std::optional<model::Failure>& failure) {
  if (!failure) return nullptr;
  return Json{{"phase", failure->phase},
              {"step", failure->step},
              {"what", failure->what},
              {"remedy", failure->remedy}};
}

Json ruled_out_json(const std::vector<model::RuledOut>& items) {
  Json list = Json::array();
  for (const auto& item : items) {
    list.push_back(Json{{"mechanism", item.mechanism}, {"why", item.why}});
  }
  return list;
}

Json experiments_json(const std::vector<model::ExperimentRecord>& experiments) {
  Json list = Json::array();
  for (const auto& item : experiments) {
    list.push_back(Json{{"name", item.name},
                        {"change", item.change},
                        {"outcome", item.outcome},
                        {"sham_outcome", item.sham_outcome},
                        {"repeats", item.repeats},
                        {"made_right", item.made_right},
                        {"not_runnable", item.not_runnable}});
  }
  return list;
}

Json chain_json(const std::vector<model::ChainLink>& chain) {
  Json list = Json::array();
  for (const auto& link : chain) {
    list.push_back(Json{{"stage", to_string(link.stage)},
                        {"broken", link.broken},
                        {"first", link.first},
                        {"step", link.step},
                        {"layer", link.layer},
                        {"detail", link.detail}});
  }
  return list;
}

Json alignment_json(const std::vector<model::Alignment>& alignment) {
  std::uint64_t matched = 0;
  Json differences = Json::array();
  for (const auto& line : alignment) {
    if (line.kind == model::AlignmentKind::kMatched) {
      ++matched;
      continue;
    }
    differences.push_back(Json{{"kind", to_string(line.kind)},
                               {"launch", line.launch},
                               {"segment", line.segment},
                               {"node", line.node},
                               {"name", line.name},
                               {"source", line.source},
                               {"differing_fields", line.differing_fields}});
  }
  return Json{{"matched", matched}, {"differences", std::move(differences)}};
}

Json segments_json(const std::vector<model::GraphSegment>& segments) {
  Json list = Json::array();
  for (const auto& segment : segments) {
    list.push_back(Json{{"bucket", segment.bucket},
                        {"segment", segment.segment},
                        {"nodes", segment.nodes.size()},
                        {"edges", segment.edges.size()},
                        {"break_after", segment.break_after}});
  }
  return list;
}

Json step_coverage_json(const std::vector<model::StepFacts>& steps) {
  Json list = Json::array();
  for (const auto& step : steps) {
    list.push_back(Json{{"step", step.step},
                        {"batch", step.batch},
                        {"tokens", step.tokens},
                        {"bucket", step.bucket},
                        {"covered", step.covered},
                        {"uncovered_reason", step.uncovered_reason},
                        {"replayed_nodes", step.replayed_nodes}});
  }
  return list;
}

Json capture_changes_json(const model::Facts& facts) {
  Json list = Json::array();
  for (const auto& change : facts.capture_changes) {
    const auto cache = static_cast<std::size_t>(change.cache);
    list.push_back(
        Json{{"cache", cache < facts.caches.size() ? Json(facts.caches[cache].name) : Json()},
             {"rows", change.rows.size()},
             {"overwritten_by_history", change.overwritten_by_history},
             {"note", change.note}});
  }
  return list;
}

Json stability_json(const model::Stability& stability) {
  return Json{{"ran", stability.ran},
              {"stable", stability.stable},
              {"rows_differing", stability.rows_differing},
              {"max_noise", number(stability.max_noise)},
              {"unstable_caches", stability.unstable_caches}};
}

void add_config(Json& json, const model::CaseConfig& config) {
  json["step"] = config.step;
  json["kv_dtype"] = config.kv_dtype;
  json["write_path"] = config.write_path;
  json["mode"] = config.mode;
  json["batch"] = config.batch;
  json["layout"] = config.layout;
  json["generation"] = config.generation;
  json["convert"] = config.convert;
  json["fault"] = config.fault;
  json["tokens"] = config.tokens;
  json["bucket"] = config.bucket;
  json["padded"] = config.padded();
  json["steps"] = config.steps;
  json["layers"] = config.layers;
  json["tp"] = config.tp;
  json["context"] = config.context;
  json["page_size"] = config.page_size;
  json["seed"] = config.seed;
  json["carry"] = config.carry;
}

void add_facts(Json& json, const model::Facts& facts) {
  json["rows_compared"] = facts.rows_compared;
  json["rows_left_out"] = facts.rows_left_out;
  json["replays"] = facts.replays;
  json["nodes"] = facts.nodes;
  json["capture_metadata"] = facts.capture_metadata;
  json["padded_eager_ran"] = facts.padded_eager_ran;
  json["stability"] = stability_json(facts.stability);
}

void add_details(Json& json, const model::Facts& facts) {
  json["chain"] = chain_json(facts.chain);
  json["row_differences"] = row_differences_json(facts);
  json["top_k"] = top_k_json(facts);
  json["outputs"] = outputs_json(facts);
  json["alignment"] = alignment_json(facts.alignment);
  json["segments"] = segments_json(facts.segments);
  json["step_coverage"] = step_coverage_json(facts.steps);
  json["capture_changes"] = capture_changes_json(facts);
}

}  // namespace

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json case_json(const model::CaseReport& report) {
  Json json;
  json["index"] = report.index;
  json["group"] = report.group;
  json["title"] = report.title;
  add_config(json, report.config);
  json["verdict"] = to_string(report.verdict);
  json["reason"] = report.reason;
  json["failure"] = failure_json(report.failure);
  add_facts(json, report.facts);
  json["findings"] = findings_json(report.findings);
  json["ruled_out"] = ruled_out_json(report.ruled_out);
  json["experiments"] = experiments_json(report.experiments);
  add_details(json, report.facts);
  json["notes"] = report.notes;
  json["not_covered"] = report.not_covered;
  json["timing"] = Json{{"eager_ms", number(report.timing.eager_ms)},
                        {"graph_ms", number(report.timing.graph_ms)}};
  json["seconds"] = number(report.seconds);
  json["reproduce"] = report.reproduce;
  return json;
}

}  // namespace graphsan::reports::json
