#include "reports/html/case_data.hpp"

#include <algorithm>
#include <string>

#include "reports/html/graph_data.hpp"
#include "reports/html/row_data.hpp"

namespace graphsan::reports::html {
namespace {

using model::CaseReport;
using model::Facts;

constexpr std::size_t kMaxPlaceRows = 64;
constexpr std::size_t kMaxSetIds = 64;
/// A range takes about 12 characters of the page.
constexpr std::size_t kBytesPerRange = 12;

template <typename Values>
Json numbers(const Values& values) {
  Json list = Json::array();
  for (const auto value : values) list.push_back(number(value));
  return list;
}

Json config_json(const model::CaseConfig& config) {
  return Json{{"step", config.step},
              {"kv_dtype", config.kv_dtype},
              {"write_path", config.write_path},
              {"mode", config.mode},
              {"batch", config.batch},
              {"layout", config.layout},
              {"generation", config.generation},
              {"convert", config.convert},
              {"fault", config.fault},
              {"tokens", config.tokens},
              {"bucket", config.bucket},
              {"padded", config.padded()},
              {"steps", config.steps},
              {"layers", config.layers},
              {"tp", config.tp},
              {"page_size", config.page_size},
              {"context", config.context},
              {"seed", std::to_string(config.seed)},
              {"carry", config.carry}};
}

Json where_json(const model::Where& where) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(where.rows.size(), kMaxPlaceRows); ++i) {
    rows.push_back({where.rows[i].page, where.rows[i].slot});
  }
  Json json{{"cache", model::to_string(where.cache)},
            {"layer", where.layer},
            {"rows", std::move(rows)},
            {"total", where.rows.size()}};
  if (where.node) json["node"] = *where.node;
  if (where.kernel) json["kernel"] = *where.kernel;
  if (where.source) json["source"] = *where.source;
  return json;
}

Json finding_json(const model::Finding& finding, Budget& budget) {
  return Json{{"mechanism", finding.mechanism},
              {"status", model::to_string(finding.status)},
              {"summary", finding.summary},
              {"first_step", finding.first_step},
              {"where", limited(finding.where, budget, where_json)},
              {"evidence", limited(finding.evidence, budget,
                                   [](const std::string& line) { return Json(line); })},
              {"experiment", finding.experiment},
              {"sham", finding.sham},
              {"not_runnable", finding.not_runnable},
              {"fix", finding.fix}};
}

Json experiment_json(const model::ExperimentRecord& record) {
  return Json{{"name", record.name},
              {"change", record.change},
              {"outcome", record.outcome},
              {"sham_outcome", record.sham_outcome},
              {"repeats", record.repeats},
              {"made_right", record.made_right},
              {"not_runnable", record.not_runnable}};
}

Json cache_json(const model::CacheLayout& cache) {
  Json sinks = Json::array();
  for (const model::RowRange& sink : cache.sinks) sinks.push_back({sink.begin, sink.end});
  return Json{{"name", cache.name},       {"kind", model::to_string(cache.kind)},
              {"layer", cache.layer},     {"dtype", model::to_string(cache.dtype)},
              {"pages", cache.pages},     {"page_size", cache.page_size},
              {"heads", cache.heads},     {"dim", cache.dim},
              {"sinks", std::move(sinks)}};
}

Json step_json(const model::StepFacts& step) {
  std::size_t real = 0;
  for (const model::Lane& lane : step.lanes) real += lane.real ? 1U : 0U;
  Json lanes = Json::array();
  for (std::size_t i = 0; i < std::min(step.lanes.size(), kMaxSetIds); ++i) {
    const model::Lane& lane = step.lanes[i];
    lanes.push_back({lane.real ? 1 : 0, lane.sequence, lane.position, lane.slot, lane.index_slot});
  }
  return Json{{"step", step.step},
              {"batch", step.batch},
              {"tokens", step.tokens},
              {"bucket", step.bucket},
              {"covered", step.covered},
              {"uncovered_reason", step.uncovered_reason},
              {"lanes", std::move(lanes)},
              {"lane_count", step.lanes.size()},
              {"real_lanes", real},
              {"input_digest", model::to_hex(model::Digest{step.input_digest})},
              {"replayed_nodes", step.replayed_nodes},
              {"nonce_overwritten", step.nonce_overwritten}};
}

void add_reproduced(Json& json, std::optional<bool> reproduced) {
  if (reproduced) json["reproduced"] = *reproduced;
}

Json topk_json(const model::TopKDifference& difference) {
  Json json{{"step", difference.step},
            {"layer", difference.layer},
            {"lane", difference.lane},
            {"head", difference.head},
            {"carried", difference.carried},
            {"kind", model::to_string(difference.kind)},
            {"eager_ids", difference.eager_ids},
            {"graph_ids", difference.graph_ids},
            {"only_eager", difference.only_eager},
            {"only_graph", difference.only_graph},
            {"eager_scores", numbers(difference.eager_scores)},
            {"graph_scores", numbers(difference.graph_scores)},
            {"margin", number(difference.margin)}};
  add_reproduced(json, difference.reproduced_from_graph_cache);
  return json;
}

Json output_json(const model::OutputDifference& difference) {
  Json json{{"step", difference.step},
            {"layer", difference.layer},
            {"lane", difference.lane},
            {"carried", difference.carried},
            {"max_abs", number(difference.max_abs)},
            {"mean_rel", number(difference.mean_rel)},
            {"max_code_distance", difference.max_code_distance},
            {"non_finite", difference.non_finite}};
  add_reproduced(json, difference.reproduced_from_graph_cache);
  return json;
}

Json chain_json(const std::vector<model::ChainLink>& chain) {
  Json list = Json::array();
  for (const model::ChainLink& link : chain) {
    list.push_back({{"stage", model::to_string(link.stage)},
                    {"broken", link.broken},
                    {"first", link.first},
                    {"step", link.step},
                    {"layer", link.layer},
                    {"detail", link.detail}});
  }
  return list;
}

Json input_json(const model::InputFacts& input) {
  return Json{{"name", input.name},
              {"captured", hex_address(input.captured_address)},
              {"replay", hex_address(input.replay_address)},
              {"contents_equal", input.contents_equal_eager}};
}

Json stability_json(const model::Stability& stability) {
  return Json{{"ran", stability.ran},
              {"stable", stability.stable},
              {"rows_differing", stability.rows_differing},
              {"max_noise", number(stability.max_noise)},
              {"unstable_caches", stability.unstable_caches}};
}

Json text(const std::string& line) { return line; }

void add_words(Json& json, const CaseReport& report, Budget budget) {
  json["findings"] = Json::array();
  for (const model::Finding& finding : report.findings) {
    Json value = finding_json(finding, budget);
    json["findings"].push_back(std::move(value));
  }
  json["ruled_out"] = limited(report.ruled_out, budget, [](const model::RuledOut& ruled) {
    return Json{{"mechanism", ruled.mechanism}, {"why", ruled.why}};
  });
  json["experiments"] = limited(report.experiments, budget, experiment_json);
  json["not_covered"] = limited(report.not_covered, budget, text);
  json["notes"] = limited(report.notes, budget, text);
}

void add_run_facts(Json& json, const Facts& facts, Budget budget) {
  json["caches"] = limited(facts.caches, budget, cache_json);
  Json& listed = json["caches"]["items"];
  for (std::size_t i = 0; i < std::min(listed.size(), facts.cache_buffers.size()); ++i) {
    listed[i]["buffer"] = facts.cache_buffers[i];
  }
  json["steps"] = limited(facts.steps, budget, step_json);
  json["inputs"] = limited(facts.inputs, budget, input_json);
  json["capture_changes"] =
      limited(facts.capture_changes, budget, [](const model::CaptureChange& change) {
        return Json{{"cache", change.cache},
                    {"rows", row_ranges(change.rows, kMaxPlaceRows)},
                    {"overwritten", change.overwritten_by_history},
                    {"note", change.note}};
      });
}

void add_consequences(Json& json, const Facts& facts, Budget budget) {
  Budget for_topk = budget.share(70);
  Budget for_outputs = budget.share(30);
  json["top_k"] = limited(facts.top_k, for_topk, topk_json);
  json["outputs"] = limited(facts.outputs, for_outputs, output_json);
}

}  // namespace

Json case_summary(const CaseReport& report) {
  Json mechanisms = Json::array();
  for (const model::Finding& finding : report.findings) {
    mechanisms.push_back({finding.mechanism, model::to_string(finding.status)});
  }
  Json json{{"index", report.index},
            {"group", report.group},
            {"title", report.title},
            {"config", config_json(report.config)},
            {"reproduce", report.reproduce},
            {"verdict", model::to_string(report.verdict)},
            {"mechanisms", std::move(mechanisms)},
            {"eager_ms", number(report.timing.eager_ms)},
            {"graph_ms", number(report.timing.graph_ms)},
            {"seconds", number(report.seconds)},
            {"failed", report.failure.has_value()}};
  return json;
}

Json case_details(const CaseReport& report, std::optional<std::size_t> proof, Budget budget) {
  const Facts& facts = report.facts;
  Json json{{"reason", report.reason},
            {"rows_compared", facts.rows_compared},
            {"rows_left_out", facts.rows_left_out},
            {"rows_differing", facts.rows.size() + facts.rows_dropped},
            {"rows_dropped", facts.rows_dropped},
            {"replays", facts.replays},
            {"nodes", facts.nodes},
            {"capture_metadata", facts.capture_metadata},
            {"padded_eager_ran", facts.padded_eager_ran},
            {"stability", stability_json(facts.stability)},
            {"chain", chain_json(facts.chain)}};
  if (report.failure) {
    json["failure"] = {{"phase", report.failure->phase},
                       {"step", report.failure->step},
                       {"what", report.failure->what},
                       {"remedy", report.failure->remedy}};
  }
  add_words(json, report, budget.share(20));
  add_run_facts(json, facts, budget.share(8));
  const std::size_t ranges = budget.share(5).left() / kBytesPerRange;
  json["classes"] = row_classes(facts, ranges);
  json["writes"] = write_sets(facts, ranges);
  add_consequences(json, facts, budget.share(12));
  json["rows"] = row_details(report, proof, budget.share(25));
  json["graph"] = graph_data(facts, budget.share(25));
  return json;
}

}  // namespace graphsan::reports::html
