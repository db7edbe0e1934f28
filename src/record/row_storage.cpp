#include "record/row_storage.hpp"

#include <type_traits>
#include <utility>

#include "record/fields.hpp"
#include "record/json_codec.hpp"
#include "record/recording.hpp"
#include "record/words.hpp"

namespace graphsan::record {
namespace {

/// The column that numbers the rows of a table below its parent, and what the tables of its lists
/// are called before their own name.
struct TableShape {
  std::string_view table;
  const char* ordinal;
  const char* child_prefix;
};

TableShape shape_of(std::string_view table) {
  constexpr TableShape kShapes[] = {
      {"run", "run_id", ""},
      {"environment", "run_id", ""},
      {"cases", "case_id", ""},
      {"caches", "cache", ""},
      {"cache_buffers", "cache", ""},
      {"steps", "step_index", ""},
      {"lanes", "lane", ""},
      {"graphs", "graph", ""},
      {"nodes", "node", "node_"},
      {"launches", "launch", "launch_"},
      {"padded_launches", "launch", "padded_launch_"},
      {"escaped", "launch", "escaped_"},
      {"findings", "finding", ""},
  };
  for (const TableShape& shape : kShapes) {
    if (shape.table == table) return shape;
  }
  return {table, "ordinal", ""};
}

template <typename>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

/// A value that fills one column; all others are structs, or optional structs.
template <typename Value>
constexpr bool is_leaf() {
  if constexpr (IsOptional<Value>::value) {
    return is_leaf<typename Value::value_type>();
  } else {
    return std::is_arithmetic_v<Value> || std::is_enum_v<Value> ||
           std::is_same_v<Value, std::string> || std::is_same_v<Value, model::Digest> ||
           IsVector<Value>::value;
  }
}

/// Columns of an element: its fields, or `text` where it is a line of text.
template <typename Archive, typename Value>
void columns(Archive& archive, const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    archive("text", const_cast<std::string&>(value));
  } else {
    list_fields(archive, value);
  }
}

/// Ignores lists, which have tables of their own; unfolds structs.
template <typename Derived>
class ColumnArchive {
 public:
  template <typename Value>
  void operator()(const char* name, Value& value) {
    if constexpr (is_leaf<Value>()) {
      self().leaf(prefix_ + name, value);
    } else {
      const std::string outer = std::exchange(prefix_, prefix_ + name + "_");
      if constexpr (IsOptional<Value>::value) {
        self().optional_struct(value);
      } else {
        fields(self(), value);
      }
      prefix_ = outer;
    }
  }
  template <typename Value>
  void flat(const char*, Value& value) {
    fields(self(), value);
  }
  template <typename Value>
  void table(const char*, Value&) {}

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  std::string prefix_;
};

/// The names of the columns, in order.
class ColumnNames : public ColumnArchive<ColumnNames> {
 public:
  template <typename Value>
  void leaf(const std::string& column, Value&) {
    names.push_back(column);
  }
  template <typename Value>
  void optional_struct(std::optional<Value>&) {
    Value value;
    fields(*this, value);
  }
  std::vector<std::string> names;
};

class RowWriter : public ColumnArchive<RowWriter> {
 public:
  explicit RowWriter(Statement& statement) : statement_{statement} {}

  template <typename Value>
  void leaf(const std::string&, Value& value) {
    if (nulls_) {
      statement_.bind_null();
    } else {
      bind(value);
    }
  }
  template <typename Value>
  void optional_struct(std::optional<Value>& value) {
    Value absent;
    nulls_ = !value.has_value();
    fields(*this, value ? *value : absent);
    nulls_ = false;
  }

 private:
  template <typename Value>
  void bind(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      statement_.bind(to_string(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      statement_.bind(static_cast<double>(value));
    } else if constexpr (std::is_arithmetic_v<Value>) {
      statement_.bind(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      statement_.bind(std::string_view{value});
    } else if constexpr (std::is_same_v<Value, model::Digest>) {
      statement_.bind(std::string_view{model::to_hex(value)});
    } else if constexpr (std::is_same_v<Value, std::vector<std::byte>>) {
      statement_.bind(std::span<const std::byte>{value});
    } else if constexpr (IsOptional<Value>::value) {
      if (value) {
        bind(*value);
      } else {
        statement_.bind_null();
      }
    } else {
      statement_.bind(std::string_view{encode_text(value)});
    }
  }

  Statement& statement_;
  bool nulls_ = false;
};

class RowReader : public ColumnArchive<RowReader> {
 public:
  RowReader(const Statement& statement, int first, const std::string& table)
      : statement_{statement}, column_{first}, table_{table} {}

  template <typename Value>
  void leaf(const std::string& column, Value& value) {
    read(table_ + "." + column, value);
    ++column_;
  }
  /// Absent when the first column is NULL: the first field of such a struct always has a value.
  template <typename Value>
  void optional_struct(std::optional<Value>& value) {
    const bool present = !statement_.is_null(column_);
    Value read_value;
    if (present) {
      fields(*this, read_value);
      value = std::move(read_value);
    } else {
      ColumnNames skipped;
      fields(skipped, read_value);
      column_ += static_cast<int>(skipped.names.size());
    }
  }

 private:
  template <typename Value>
  void read(const std::string& what, Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      const std::string word = statement_.text(column_);
      const std::optional<Value> parsed = parse_enum<Value>(word);
      if (!parsed) throw RecordingError{what + ": unknown word '" + word + "'"};
      value = *parsed;
    } else if constexpr (std::is_floating_point_v<Value>) {
      value = static_cast<Value>(statement_.real(column_));
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = statement_.integer(column_) != 0;
    } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
      value = static_cast<std::uint64_t>(statement_.integer(column_));
    } else if constexpr (std::is_integral_v<Value>) {
      const std::int64_t wide = statement_.integer(column_);
      if (!std::in_range<Value>(wide)) throw RecordingError{what + ": number out of range"};
      value = static_cast<Value>(wide);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = statement_.text(column_);
    } else if constexpr (std::is_same_v<Value, std::vector<std::byte>>) {
      value = statement_.blob(column_);
    } else if constexpr (IsOptional<Value>::value) {
      if (!statement_.is_null(column_)) read(what, value.emplace());
    } else if constexpr (std::is_same_v<Value, model::Digest>) {
      read_digest(what, value);
    } else {
      decode_text(statement_.text(column_), what, value);
    }
  }
  void read_digest(const std::string& what, model::Digest& digest) const;

  const Statement& statement_;
  int column_;
  const std::string& table_;
};

void RowReader::read_digest(const std::string& what, model::Digest& digest) const {
  const std::string text = statement_.text(column_);
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw RecordingError{what + ": expected 16 hexadecimal digits"};
  }
  digest.value = std::stoull(text, nullptr, 16);
}

/// Calls `visit(table name, list)` for each list of a value.
template <typename Visit>
class ListArchive {
 public:
  explicit ListArchive(Visit visit) : visit_{std::move(visit)} {}
  template <typename Value>
  void operator()(const char*, Value&) {}
  template <typename Value>
  void flat(const char*, Value& value) {
    fields(*this, value);
  }
  template <typename Value>
  void table(const char* name, std::vector<Value>& values) {
    visit_(name, values);
  }

 private:
  Visit visit_;
};

template <typename Value, typename Visit>
void for_each_list(Value& value, Visit visit) {
  if constexpr (!std::is_same_v<Value, std::string>) {
    ListArchive<Visit> lists{std::move(visit)};
    fields(lists, value);
  }
}

template <typename Value>
std::vector<std::string> column_names() {
  ColumnNames archive;
  columns(archive, Value{});
  return archive.names;
}

/// Column names for SQL. In a SELECT they carry their table, since SQLite would take an unknown
/// quoted name alone for a string.
std::string quoted_list(const std::vector<std::string>& names, const std::string& table = {}) {
  std::string list;
  for (const std::string& name : names) {
    list += list.empty() ? "" : ", ";
    list += (table.empty() ? "\"" : table + ".\"") + name + "\"";
  }
  return list;
}

std::vector<Key> with_key(std::vector<Key> keys, std::string column, std::int64_t value) {
  keys.push_back({std::move(column), value});
  return keys;
}

}  // namespace

template <typename Value>
void store_row(Database& database, const std::string& table, const std::vector<Key>& keys,
               const Value& value) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.column);
  for (std::string& name : column_names<Value>()) names.push_back(std::move(name));
  std::string marks;
  for (std::size_t i = 0; i < names.size(); ++i) marks += i == 0 ? "?" : ", ?";
  Statement insert = database.prepare("INSERT INTO " + table + " (" + quoted_list(names) +
                                      ") VALUES (" + marks + ")");
  for (const Key& key : keys) insert.bind(key.value);
  RowWriter writer{insert};
  columns(writer, value);
  insert.run();
  const std::string prefix = shape_of(table).child_prefix;
  for_each_list(const_cast<Value&>(value), [&](const char* name, const auto& list) {
    store_rows(database, prefix + name, keys, list);
  });
}

template <typename Value>
void store_rows(Database& database, const std::string& table, const std::vector<Key>& keys,
                const std::vector<Value>& values) {
  std::vector<Key> row = with_key(keys, shape_of(table).ordinal, 0);
  for (const Value& value : values) {
    store_row(database, table, row, value);
    ++row.back().value;
  }
}

template <typename Value>
std::vector<Value> load_rows(Database& database, const std::string& table,
                             const std::vector<Key>& keys) {
  const TableShape shape = shape_of(table);
  std::string condition;
  for (const Key& key : keys) condition += (condition.empty() ? "" : " AND ") + key.column + " = ?";
  Statement select = database.prepare(
      "SELECT " + quoted_list(column_names<Value>(), table) + " FROM " + table +
      (condition.empty() ? "" : " WHERE " + condition) + " ORDER BY " + shape.ordinal);
  for (const Key& key : keys) select.bind(key.value);
  std::vector<Value> values;
  while (select.step()) {
    RowReader reader{select, 0, table};
    columns(reader, values.emplace_back());
  }
  const std::string prefix = shape.child_prefix;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto row = with_key(keys, shape.ordinal, static_cast<std::int64_t>(i));
    for_each_list(values[i], [&]<typename Item>(const char* name, std::vector<Item>& list) {
      list = load_rows<Item>(database, prefix + name, row);
    });
  }
  return values;
}

template void store_row(Database&, const std::string&, const std::vector<Key>&,
                        const model::CaseReport&);
template void store_row(Database&, const std::string&, const std::vector<Key>&,
                        const model::RunReport&);
template void store_row(Database&, const std::string&, const std::vector<Key>&,
                        const model::Environment&);
template std::vector<model::CaseReport> load_rows(Database&, const std::string&,
                                                  const std::vector<Key>&);
template std::vector<model::RunReport> load_rows(Database&, const std::string&,
                                                 const std::vector<Key>&);
template std::vector<model::Environment> load_rows(Database&, const std::string&,
                                                   const std::vector<Key>&);

}  // namespace graphsan::record
