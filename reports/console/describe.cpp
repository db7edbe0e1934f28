#include "reports/console/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reports/console/text.hpp"

namespace graphsan::reports::console {
namespace {

constexpr std::size_t kRangesShown = 6;

/// Rows of one cache that differ in the same way.
struct RowGroup {
  std::vector<model::PageSlot> rows;
  std::vector<std::int64_t> steps;
};

/// What tells row groups apart, in the order in which they are shown.
using RowGroupKey = std::tuple<int, model::RowClass, std::string>;

std::string origin_text(const model::RowDifference& row, const model::CacheLayout* layout) {
  const model::Origin& origin = row.origin;
  switch (origin.kind) {
    case model::OriginKind::kUnknown:
      return "origin unknown";
    case model::OriginKind::kUntouched:
      return "untouched";
    case model::OriginKind::kThisRow:
      return "this row's own bytes";
    case model::OriginKind::kOtherRow:
      if (layout == nullptr) return fmt::format("bytes of row {}", origin.row);
      return fmt::format("bytes of page {} slot {}", layout->page_of(origin.row),
                         layout->slot_of(origin.row));
    case model::OriginKind::kEarlierStep:
      return fmt::format("stale: bytes of step {}", origin.step);
    case model::OriginKind::kPadLane:
      return fmt::format("bytes of pad lane {}", origin.lane);
  }
  return {};
}

std::string places_text(const model::RowDifference& row) {
  std::string text;
  for (const model::Place place : row.places) {
    if (place != model::Place::kOrdinary) text += fmt::format(", {}", to_string(place));
  }
  return text;
}

std::string value_text(const model::ValueDifference& value) {
  switch (value.kind) {
    case model::ValueKind::kNone:
      return {};
    case model::ValueKind::kConstantRatio:
      return fmt::format(", constant ratio {:.6g}", value.ratio);
    case model::ValueKind::kRounding:
    case model::ValueKind::kNonFinite:
    case model::ValueKind::kArbitrary:
    case model::ValueKind::kOtherDtype:
      return fmt::format(", {}", to_string(value.kind));
  }
  return {};
}

const model::CacheLayout* layout_of(const model::Facts& facts, int cache) {
  const auto index = static_cast<std::size_t>(cache);
  if (cache < 0 || index >= facts.caches.size()) return nullptr;
  return facts.caches[index].page_size > 0 ? &facts.caches[index] : nullptr;
}

void add_row_lines(const model::Facts& facts, std::vector<std::string>& lines) {
  std::map<RowGroupKey, RowGroup> groups;
  for (const model::RowDifference& row : facts.rows) {
    const model::CacheLayout* const layout = layout_of(facts, row.cache);
    const std::string how = origin_text(row, layout) + places_text(row) + value_text(row.value);
    RowGroup& group = groups[{row.cache, row.row_class, how}];
    group.steps.push_back(row.step);
    group.rows.push_back(layout == nullptr
                             ? model::PageSlot{0, row.row}
                             : model::PageSlot{layout->page_of(row.row), layout->slot_of(row.row)});
  }
  for (const auto& [key, group] : groups) {
    const auto& [cache, row_class, how] = key;
    const model::CacheLayout* const layout = layout_of(facts, cache);
    lines.push_back(fmt::format(
        "{}: {} {} ({}), {} {}: {}",
        layout == nullptr ? fmt::format("cache {}", cache) : layout->name, group.rows.size(),
        to_string(row_class), how, group.steps.front() == group.steps.back() ? "step" : "steps",
        number_ranges(group.steps), page_slot_ranges(group.rows, kRangesShown)));
  }
  if (facts.rows_dropped > 0) {
    lines.push_back(
        fmt::format("and {} counted but not listed", counted(facts.rows_dropped, "further row")));
  }
}

void add_top_k_line(const model::Facts& facts, std::vector<std::string>& lines) {
  if (facts.top_k.empty()) return;
  std::map<model::TopKKind, int> kinds;
  for (const model::TopKDifference& difference : facts.top_k) ++kinds[difference.kind];
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) {
    parts.push_back(fmt::format("{} {}", count, to_string(kind)));
  }
  lines.push_back(fmt::format(
      "top-k: {} ({})",
      counted(facts.top_k.size(), "set") + (facts.top_k.size() == 1 ? " differs" : " differ"),
      join(parts, ", ")));
}

void add_output_line(const model::Facts& facts, std::vector<std::string>& lines) {
  if (facts.outputs.empty()) return;
  double max_abs = 0;
  double mean_rel = 0;
  bool non_finite = false;
  std::set<std::tuple<int, int, int>> lanes;  // both passes may show one
  for (const model::OutputDifference& output : facts.outputs) {
    lanes.insert({output.step, output.layer, output.lane});
    max_abs = std::max(max_abs, output.max_abs);
    mean_rel = std::max(mean_rel, output.mean_rel);
    non_finite = non_finite || output.non_finite;
  }
  lines.push_back(fmt::format("output: {} {}, by up to {:.4g} (mean relative {:.2f} %){}",
                              counted(lanes.size(), "lane"),
                              lanes.size() == 1 ? "differs" : "differ", max_abs, 100 * mean_rel,
                              non_finite ? ", with non-finite values" : ""));
}

/// Pages and slots of rows; lanes of outputs and selections, which hold them as slots of page 0.
std::string places_of(const model::Where& where) {
  if (where.cache != model::CacheKind::kOutput && where.cache != model::CacheKind::kTopK) {
    return page_slot_ranges(where.rows, kRangesShown);
  }
  std::vector<std::int64_t> lanes;
  for (const model::PageSlot& place : where.rows) lanes.push_back(place.slot);
  return (lanes.size() == 1 ? "lane " : "lanes ") + number_ranges(lanes);
}

}  // namespace

std::string case_name(const model::CaseConfig& config) {
  std::vector<std::string> words;
  for (const std::string* word :
       {&config.kv_dtype, &config.write_path, &config.mode, &config.batch}) {
    if (!word->empty()) words.push_back(*word);
  }
  if (config.bucket > 0) words.push_back(fmt::format("{}/{}", config.tokens, config.bucket));
  return join(words, " ");
}

std::string where_text(const model::Where& where) {
  std::string text = fmt::format("layer {} {}", where.layer, to_string(where.cache));
  if (!where.rows.empty()) text += ": " + places_of(where);
  std::vector<std::string> by;
  if (where.node) by.push_back(fmt::format("node {}", *where.node));
  if (where.kernel) by.push_back(*where.kernel);
  if (where.source) by.push_back("(" + *where.source + ")");
  return by.empty() ? text : text + "; " + join(by, " ");
}

std::vector<std::string> difference_lines(const model::Facts& facts) {
  std::vector<std::string> lines;
  add_row_lines(facts, lines);
  add_top_k_line(facts, lines);
  add_output_line(facts, lines);
  return lines;
}

std::string chain_text(const std::vector<model::ChainLink>& chain) {
  std::vector<std::string> links;
  bool any_broken = false;
  for (const model::ChainLink& link : chain) {
    std::string text{to_string(link.stage)};
    if (link.broken) {
      any_broken = true;
      text += link.first ? " [FIRST BROKEN" : " [broken";
      if (link.step >= 0) text += fmt::format(", step {}", link.step);
      if (link.layer >= 0) text += fmt::format(", layer {}", link.layer);
      if (!link.detail.empty()) text += ": " + link.detail;
      text += "]";
    }
    links.push_back(text);
  }
  return any_broken ? join(links, " → ") : std::string{};
}

std::string budget_text(const model::ErrorBudget& budget) {
  return fmt::format(
      "{}: round trip {:.2f} % (expected {:.2f} %), whole attention {:.2f} % at a logit spread of "
      "{:.2g}: {}",
      to_string(budget.dtype), 100 * budget.round_trip_mean_rel, 100 * budget.round_trip_expected,
      100 * budget.attention_mean_rel, budget.spread, budget.normal ? "normal" : "NOT normal");
}

std::string capacity_text(const model::Capacity& capacity) {
  return fmt::format("{}: {} a token, {} fit ({})", to_string(capacity.dtype),
                     counted(capacity.bytes_per_token, "byte"), counted(capacity.tokens, "token"),
                     capacity.basis);
}

std::string failure_text(const model::Failure& failure) {
  std::string text = "during " + failure.phase;
  if (failure.step >= 0) text += fmt::format(", step {}", failure.step);
  text += ": " + failure.what;
  return failure.remedy.empty() ? text : text + "; " + failure.remedy;
}

}  // namespace graphsan::reports::console
