#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/run_report.hpp"
#include "record/database.hpp"

namespace graphsan::record {

/// One column of a row's key: which case, which graph ...
struct Key {
  std::string column;
  std::int64_t value = 0;
};

/// Writes `value` as the row `keys` of `table`, and its lists as rows of their own tables.
template <typename Value>
void store_row(Database& database, const std::string& table, const std::vector<Key>& keys,
               const Value& value);

/// Writes `values` as rows of `table`, numbered in order by that table's ordinal column.
template <typename Value>
void store_rows(Database& database, const std::string& table, const std::vector<Key>& keys,
                const std::vector<Value>& values);

/// All rows of `table` whose key starts with `keys`, in order, with their lists. Throws
/// RecordingError naming table and column of a value that cannot be read.
template <typename Value>
[[nodiscard]] std::vector<Value> load_rows(Database& database, const std::string& table,
                                           const std::vector<Key>& keys);

}  // namespace graphsan::record
