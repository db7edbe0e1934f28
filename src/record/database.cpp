#include "record/database.hpp"

#include <sqlite3.h>

#include <limits>
#include <utility>

#include "record/recording.hpp"

namespace graphsan::record {
namespace {

/// What to do about a failure, by SQLite's primary code.
const char* remedy(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return "free some disk space and record again";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "check the permissions of the file and its folder";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process holds it: wait for that, or choose another name";
    default:
      return "the file is truncated or damaged: record the run again";
  }
}

[[noreturn]] void fail(const std::filesystem::path& path, int code, const std::string& message) {
  throw RecordingError{"cannot use recording " + path.string() + ": " + message + "; " +
                       remedy(code)};
}

int open_flags(Database::Access access) {
  switch (access) {
    case Database::Access::kRead:
      return SQLITE_OPEN_READONLY;
    case Database::Access::kRecover:
    case Database::Access::kWrite:
      return SQLITE_OPEN_READWRITE;
    case Database::Access::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  throw std::logic_error{"no such access"};
}

}  // namespace

Statement::Statement(sqlite3_stmt* raw, const std::filesystem::path& path)
    : raw_{raw}, path_{path} {}

void Statement::check_bound(int code) const {
  if (code != SQLITE_OK) fail(path_, code, sqlite3_errstr(code));
}

Statement& Statement::bind(std::int64_t value) {
  check_bound(sqlite3_bind_int64(raw_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check_bound(sqlite3_bind_double(raw_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  const char* const data = value.data() == nullptr ? "" : value.data();
  check_bound(
      sqlite3_bind_text64(raw_, ++bound_, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> value) {
  const void* const data = value.empty() ? static_cast<const void*>("") : value.data();
  check_bound(sqlite3_bind_blob64(raw_, ++bound_, data, value.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null() {
  check_bound(sqlite3_bind_null(raw_, ++bound_));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(raw_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(raw_);
    return false;
  }
  const std::string message = sqlite3_errmsg(sqlite3_db_handle(raw_));
  sqlite3_reset(raw_);
  fail(path_, code, message);
}

void Statement::run() {
  while (step()) {
  }
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(raw_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(raw_, column); }

double Statement::real(int column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(raw_, column);
}

std::string Statement::text(int column) const {
  const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(raw_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(raw_, column))};
}

std::vector<std::byte> Statement::blob(int column) const {
  const auto* const data = static_cast<const std::byte*>(sqlite3_column_blob(raw_, column));
  if (data == nullptr) return {};
  return {data, data + sqlite3_column_bytes(raw_, column)};
}

void Database::Close::operator()(sqlite3* raw) const noexcept { sqlite3_close(raw); }

void Database::Finalize::operator()(sqlite3_stmt* raw) const noexcept { sqlite3_finalize(raw); }

Database::Database(std::filesystem::path path, Access access) : path_{std::move(path)} {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &raw, open_flags(access), nullptr);
  raw_.reset(raw);
  if (code != SQLITE_OK) fail(path_, code, raw == nullptr ? "no memory" : sqlite3_errmsg(raw));
  sqlite3_busy_timeout(raw, 2000);
}

Database::~Database() = default;

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(raw_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(path_, code, sqlite3_errmsg(raw_.get()));
}

Statement Database::prepare(const std::string& sql) {
  auto& slot = statements_[sql];
  if (slot == nullptr) {
    sqlite3_stmt* raw = nullptr;
    const int code =
        sqlite3_prepare_v2(raw_.get(), sql.c_str(), static_cast<int>(sql.size()), &raw, nullptr);
    if (code != SQLITE_OK) fail(path_, code, sqlite3_errmsg(raw_.get()));
    slot.reset(raw);
  }
  sqlite3_reset(slot.get());
  sqlite3_clear_bindings(slot.get());
  return Statement{slot.get(), path_};
}

Transaction::Transaction(Database& database) : database_{database} {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const RecordingError&) {
    // SQLite has rolled back by itself; the failure that led here is already on its way.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace graphsan::record
