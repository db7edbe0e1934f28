#pragma once

#include "record/facts_fields.hpp"
#include "record/graph_fields.hpp"
#include "record/report_fields.hpp"

/// The one list of what a recording holds of each value: JSON texts and SQLite rows are both made
/// from it, reading and writing alike, so no field can be written and not read.
///
/// `archive(name, member)` is a field: a JSON member, or a column (a plain struct gives one column
/// for each of its own fields, `name_` before each). `archive.flat(name, member)` is a struct that
/// is nested in JSON and whose columns carry no prefix. `archive.table(name, member)` is a list: an
/// array in JSON, a table of that name in SQLite. Order is the order of writing.
namespace graphsan::record {

/// Lists the fields of a value for an archive that only reads them.
template <typename Archive, typename Value>
void list_fields(Archive& archive, const Value& value) {
  fields(archive, const_cast<Value&>(value));
}

}  // namespace graphsan::record
