#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/json/case_json.hpp"

namespace graphsan::reports::json {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Null where the two sides have no distance: one of them is a NaN.
Json distance(std::int64_t codes) {
  return codes == std::numeric_limits<std::int64_t>::max() ? Json(nullptr) : Json(codes);
}

Json numbers(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(number(value));
  return list;
}

Json where_json(const model::Where& where) {
  Json rows = Json::array();
  for (const model::PageSlot& row : where.rows) rows.push_back(Json::array({row.page, row.slot}));
  return Json{{"cache", to_string(where.cache)}, {"layer", where.layer},
              {"rows", std::move(rows)},         {"node", or_null(where.node)},
              {"kernel", or_null(where.kernel)}, {"source", or_null(where.source)}};
}

Json owner_json(const std::optional<model::LogicalRow>& owner) {
  if (!owner) return nullptr;
  return Json{{"sequence", owner->sequence},
              {"position", owner->position},
              {"layer", owner->layer},
              {"cache", to_string(owner->kind)}};
}

Json origin_json(const model::Origin& origin) {
  return Json{{"kind", to_string(origin.kind)},
              {"row", origin.row},
              {"step", origin.step},
              {"lane", origin.lane},
              {"also", origin.also}};
}

Json places_json(const std::vector<model::Place>& places) {
  Json list = Json::array();
  for (const model::Place place : places) list.push_back(to_string(place));
  return list;
}

Json value_json(const model::ValueDifference& value) {
  return Json{{"kind", to_string(value.kind)},
              {"ratio", number(value.ratio)},
              {"max_code_distance", distance(value.max_code_distance)},
              {"elements", value.elements}};
}

/// Cache, layer, page and slot of a row; null where the facts do not hold its cache.
void add_place(Json& json, const model::Facts& facts, const model::RowDifference& row) {
  const auto index = static_cast<std::size_t>(row.cache);
  const bool known = index < facts.caches.size() && facts.caches[index].page_size > 0;
  const model::CacheLayout* const layout = known ? &facts.caches[index] : nullptr;
  json["cache"] = known ? Json(to_string(layout->kind)) : Json(nullptr);
  json["layer"] = known ? Json(layout->layer) : Json(nullptr);
  json["page"] = known ? Json(layout->page_of(row.row)) : Json(nullptr);
  json["slot"] = known ? Json(layout->slot_of(row.row)) : Json(nullptr);
}

Json row_json(const model::Facts& facts, const model::RowDifference& row) {
  Json json{{"step", row.step}, {"class", to_string(row.row_class)}};
  add_place(json, facts, row);
  json["row"] = row.row;
  json["origin"] = origin_json(row.origin);
  json["places"] = places_json(row.places);
  json["owner"] = owner_json(row.owner);
  json["lane"] = row.lane;
  json["padded_eager_shows_it"] = row.padded_eager_shows_it;
  json["eager_digest"] = model::to_hex(row.eager);
  json["graph_digest"] = model::to_hex(row.graph);
  json["value"] = value_json(row.value);
  return json;
}

Json top_k_difference_json(const model::TopKDifference& item) {
  return Json{{"step", item.step},
              {"layer", item.layer},
              {"lane", item.lane},
              {"head", item.head},
              {"carried", item.carried},
              {"kind", to_string(item.kind)},
              {"only_eager", item.only_eager},
              {"only_graph", item.only_graph},
              {"eager_scores", numbers(item.eager_scores)},
              {"graph_scores", numbers(item.graph_scores)},
              {"margin", number(item.margin)},
              {"reproduced_from_graph_cache", or_null(item.reproduced_from_graph_cache)}};
}

Json output_json(const model::OutputDifference& item) {
  return Json{{"step", item.step},
              {"layer", item.layer},
              {"lane", item.lane},
              {"carried", item.carried},
              {"max_abs", number(item.max_abs)},
              {"mean_rel", number(item.mean_rel)},
              {"max_code_distance", distance(item.max_code_distance)},
              {"non_finite", item.non_finite},
              {"reproduced_from_graph_cache", or_null(item.reproduced_from_graph_cache)}};
}

/// `{total, differences}`: the first kMaxListed items.
template <typename Item, typename Make>
Json limited(const std::vector<Item>& items, std::uint64_t not_listed, Make make) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(items.size(), kMaxListed); ++i) {
    list.push_back(make(items[i]));
  }
  return Json{{"total", items.size() + not_listed}, {"differences", std::move(list)}};
}

}  // namespace

Json findings_json(const std::vector<model::Finding>& findings) {
  Json list = Json::array();
  for (const model::Finding& finding : findings) {
    Json where = Json::array();
    for (const model::Where& place : finding.where) where.push_back(where_json(place));
    list.push_back(Json{{"mechanism", finding.mechanism},
                        {"status", to_string(finding.status)},
                        {"summary", finding.summary},
                        {"first_step", finding.first_step},
                        {"where", std::move(where)},
                        {"evidence", finding.evidence},
                        {"experiment", finding.experiment},
                        {"sham", finding.sham},
                        {"not_runnable", finding.not_runnable},
                        {"fix", finding.fix}});
  }
  return list;
}

Json row_differences_json(const model::Facts& facts) {
  return limited(facts.rows, facts.rows_dropped,
                 [&](const model::RowDifference& row) { return row_json(facts, row); });
}

Json top_k_json(const model::Facts& facts) {
  return limited(facts.top_k, 0, top_k_difference_json);
}

Json outputs_json(const model::Facts& facts) { return limited(facts.outputs, 0, output_json); }

}  // namespace graphsan::reports::json
