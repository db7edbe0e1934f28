#include "reports/html/row_data.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace graphsan::reports::html {
namespace {

using model::Facts;
using model::Finding;
using model::RowDifference;

constexpr std::size_t kMaxListedRows = 2000;
constexpr std::size_t kRowsPerPlace = 4;    ///< rows of one Where that are listed before all others
constexpr std::ptrdiff_t kSlotsTried = 64;  ///< slots of one Where that are looked for

using GroupKey = std::tuple<int, int, model::RowClass>;

std::map<GroupKey, std::vector<std::size_t>> groups_of(const std::vector<RowDifference>& rows) {
  std::map<GroupKey, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    groups[{rows[i].step, rows[i].cache, rows[i].row_class}].push_back(i);
  }
  return groups;
}

const model::CacheLayout* layout_of(const Facts& facts, int cache) {
  const bool known = cache >= 0 && static_cast<std::size_t>(cache) < facts.caches.size();
  return known ? &facts.caches[static_cast<std::size_t>(cache)] : nullptr;
}

bool names(const model::Where& where, const Facts& facts, const RowDifference& row) {
  const model::CacheLayout* layout = layout_of(facts, row.cache);
  if (layout == nullptr || layout->page_size <= 0) return false;
  if (layout->kind != where.cache || layout->layer != where.layer) return false;
  if (where.rows.empty()) return true;
  const model::PageSlot at{layout->page_of(row.row), layout->slot_of(row.row)};
  const auto end = where.rows.begin() + std::min(std::ssize(where.rows), kSlotsTried);
  return std::find(where.rows.begin(), end, at) != end;
}

std::vector<std::size_t> rows_named_by(const Finding& finding, const Facts& facts) {
  std::vector<std::size_t> named;
  for (const model::Where& where : finding.where) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < facts.rows.size() && found < kRowsPerPlace; ++i) {
      if (!names(where, facts, facts.rows[i])) continue;
      named.push_back(i);
      ++found;
    }
  }
  return named;
}

std::optional<std::size_t> proof_of(const model::CaseReport& report,
                                    std::optional<std::size_t> finding) {
  const std::vector<RowDifference>& rows = report.facts.rows;
  std::vector<std::size_t> candidates;
  if (finding) candidates = rows_named_by(report.findings[*finding], report.facts);
  for (std::size_t i = 0; i < rows.size() && i < kRowsPerPlace; ++i) candidates.push_back(i);
  for (const std::size_t i : candidates) {
    if (!rows[i].eager_bytes.empty() && !rows[i].graph_bytes.empty()) return i;
  }
  if (candidates.empty()) return std::nullopt;
  return candidates.front();
}

std::optional<std::size_t> first_case(const model::RunReport& report, model::Verdict verdict) {
  std::optional<std::size_t> bare;
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    if (report.cases[i].verdict != verdict) continue;
    if (!report.cases[i].findings.empty()) return i;
    if (!bare) bare = i;
  }
  return bare;
}

std::optional<std::size_t> first_finding(const std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].status == model::FindingStatus::kConfirmed) return i;
  }
  if (findings.empty()) return std::nullopt;
  return 0;
}

Json origin_json(const model::Origin& origin) {
  Json json{{"kind", model::to_string(origin.kind)}};
  if (origin.row >= 0) json["row"] = origin.row;
  if (origin.step >= 0) json["step"] = origin.step;
  if (origin.lane >= 0) json["lane"] = origin.lane;
  if (!origin.also.empty()) json["also"] = origin.also;
  return json;
}

Json value_json(const model::ValueDifference& value) {
  return Json{{"kind", model::to_string(value.kind)},
              {"ratio", number(value.ratio)},
              {"max_code_distance", value.max_code_distance},
              {"elements", value.elements}};
}

Json row_json(const RowDifference& row, bool with_bytes) {
  Json places = Json::array();
  for (const model::Place place : row.places) places.push_back(model::to_string(place));
  Json json{{"step", row.step},
            {"cache", row.cache},
            {"row", row.row},
            {"class", model::to_string(row.row_class)},
            {"origin", origin_json(row.origin)},
            {"places", std::move(places)},
            {"lane", row.lane},
            {"padded_eager", row.padded_eager_shows_it},
            {"eager", model::to_hex(row.eager)},
            {"graph", model::to_hex(row.graph)},
            {"value", value_json(row.value)}};
  if (row.owner) json["owner"] = {row.owner->sequence, row.owner->position};
  if (!with_bytes) return json;
  json["eager_bytes"] = base64(row.eager_bytes);
  json["graph_bytes"] = base64(row.graph_bytes);
  return json;
}

/// Every row once, in the order in which rows should be listed while there is room.
std::vector<std::size_t> listing_order(const model::CaseReport& report,
                                       std::optional<std::size_t> first) {
  std::vector<std::size_t> order;
  if (first) order.push_back(*first);
  for (const Finding& finding : report.findings) {
    const std::vector<std::size_t> named = rows_named_by(finding, report.facts);
    order.insert(order.end(), named.begin(), named.end());
  }
  const auto groups = groups_of(report.facts.rows);
  bool more = true;
  for (std::size_t turn = 0; more && order.size() < 2 * kMaxListedRows; ++turn) {
    more = false;
    for (const auto& [key, rows] : groups) {
      if (turn >= rows.size()) continue;
      order.push_back(rows[turn]);
      more = true;
    }
  }
  std::vector<bool> seen(report.facts.rows.size(), false);
  std::erase_if(order, [&seen](std::size_t i) {
    const bool again = seen[i];
    seen[i] = true;
    return again;
  });
  return order;
}

Json group_json(const GroupKey& key, const std::vector<std::size_t>& members, const Facts& facts,
                std::size_t max_ranges) {
  std::vector<std::int64_t> rows;
  std::map<std::string_view, std::size_t> origins;
  std::map<std::string_view, std::size_t> places;
  for (const std::size_t i : members) {
    const RowDifference& row = facts.rows[i];
    rows.push_back(row.row);
    ++origins[model::to_string(row.origin.kind)];
    for (const model::Place place : row.places) ++places[model::to_string(place)];
  }
  std::sort(rows.begin(), rows.end());
  Json json{{"step", std::get<0>(key)},
            {"cache", std::get<1>(key)},
            {"class", model::to_string(std::get<2>(key))},
            {"rows", row_ranges(rows, max_ranges)},
            {"origins", Json::object()},
            {"places", Json::object()}};
  for (const auto& [word, count] : origins) json["origins"][std::string{word}] = count;
  for (const auto& [word, count] : places) json["places"][std::string{word}] = count;
  return json;
}

}  // namespace

Lead choose_lead(const model::RunReport& report) {
  Lead lead;
  lead.case_at = first_case(report, model::Verdict::kDiverged);
  if (!lead.case_at) lead.case_at = first_case(report, model::Verdict::kHazard);
  if (!lead.case_at) return lead;
  const model::CaseReport& chosen = report.cases[*lead.case_at];
  lead.finding = first_finding(chosen.findings);
  lead.row = proof_of(chosen, lead.finding);
  return lead;
}

Json row_classes(const Facts& facts, std::size_t max_ranges) {
  Json list = Json::array();
  const auto groups = groups_of(facts.rows);
  const std::size_t each =
      groups.empty() ? 0 : std::max<std::size_t>(4, max_ranges / groups.size());
  for (const auto& [key, members] : groups) list.push_back(group_json(key, members, facts, each));
  return list;
}

Json write_sets(const Facts& facts, std::size_t max_ranges) {
  Json list = Json::array();
  const std::size_t sets = 3 * facts.writes.size();
  const std::size_t each = sets == 0 ? 0 : std::max<std::size_t>(4, max_ranges / sets);
  for (const model::WriteSets& writes : facts.writes) {
    list.push_back({{"step", writes.step},
                    {"cache", writes.cache},
                    {"expected", row_ranges(writes.expected, each)},
                    {"eager", row_ranges(writes.eager, each)},
                    {"graph", row_ranges(writes.graph, each)},
                    {"sink_writes", writes.sink_writes}});
  }
  return list;
}

Json row_details(const model::CaseReport& report, std::optional<std::size_t> first, Budget budget) {
  const std::vector<RowDifference>& rows = report.facts.rows;
  Budget for_bytes = budget.share(75);
  Budget for_others = budget.share(25);
  std::vector<std::pair<std::size_t, bool>> chosen;
  for (const std::size_t i : listing_order(report, first)) {
    if (chosen.size() == kMaxListedRows) break;
    const bool with_bytes = for_bytes.take(row_json(rows[i], true));
    if (!with_bytes && !for_others.take(row_json(rows[i], false))) break;
    chosen.emplace_back(i, with_bytes);
  }
  std::sort(chosen.begin(), chosen.end());
  Json items = Json::array();
  std::size_t without_bytes = 0;
  for (const auto& [i, with_bytes] : chosen) {
    items.push_back(row_json(rows[i], with_bytes));
    if (!with_bytes) ++without_bytes;
  }
  return Json{{"items", std::move(items)},
              {"left_out", rows.size() - chosen.size()},
              {"without_bytes", without_bytes}};
}

}  // namespace graphsan::reports::html
