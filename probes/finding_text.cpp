#include "probes/finding_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace graphsan::probes {

std::vector<model::Where> where_of(const model::Facts& facts,
                                   const std::vector<model::RowDifference>& rows) {
  std::vector<int> order;
  std::map<int, std::vector<std::int64_t>> by_cache;
  for (const model::RowDifference& row : rows) {
    if (!by_cache.contains(row.cache)) order.push_back(row.cache);
    by_cache[row.cache].push_back(row.row);
  }
  std::vector<model::Where> where;
  for (const int cache : order) {
    const model::CacheLayout& layout = facts.caches[static_cast<std::size_t>(cache)];
    std::vector<std::int64_t>& numbers = by_cache[cache];
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    model::Where place;
    place.cache = layout.kind;
    place.layer = layout.layer;
    for (const std::int64_t row : numbers) {
      place.rows.push_back({layout.page_of(row), layout.slot_of(row)});
    }
    where.push_back(std::move(place));
  }
  return where;
}

std::vector<diagnose::RowKey> keys_of(const std::vector<model::RowDifference>& rows) {
  std::vector<diagnose::RowKey> keys;
  for (const model::RowDifference& row : rows) keys.push_back({row.step, row.cache, row.row});
  return keys;
}

std::string cache_list(const std::vector<model::Where>& where) {
  std::vector<std::string> names;
  for (const model::Where& place : where) {
    const std::string name{model::to_string(place.cache)};
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return "no cache";
  std::string list = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    list += (i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return list;
}

std::string row_name(const model::CacheLayout& layout, std::int64_t row) {
  return fmt::format("page {} slot {}", layout.page_of(row), layout.slot_of(row));
}

}  // namespace graphsan::probes
