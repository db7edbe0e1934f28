#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace graphsan::record {

/// One prepared statement: bind in order from the first, then step. Borrowed from a Database, which
/// keeps and reuses it.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* raw, const std::filesystem::path& path);

  Statement& bind(std::int64_t value);
  /// A NaN is stored as NULL, which is how SQLite treats it anyway.
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind(std::span<const std::byte> value);
  Statement& bind_null();

  /// True while there is a row to read. Throws RecordingError.
  bool step();
  /// Runs a statement without result rows.
  void run();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  /// NaN where the column is NULL.
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::vector<std::byte> blob(int column) const;

 private:
  void check_bound(int code) const;

  sqlite3_stmt* raw_;
  const std::filesystem::path& path_;
  int bound_ = 0;
};

/// Owns one open SQLite file. Every failure is a RecordingError that names the file.
class Database {
 public:
  enum class Access { kRead, kRecover, kWrite, kCreate };

  Database(std::filesystem::path path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const char* sql);
  /// The statement for `sql`, reset and without values; prepared once.
  [[nodiscard]] Statement prepare(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* raw) const noexcept;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* raw) const noexcept;
  };

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> raw_;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

/// One transaction: rolled back by the destructor unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace graphsan::record
