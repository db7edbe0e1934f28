#include "record/recording.hpp"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "record/database.hpp"
#include "record/recording_file.hpp"
#include "record/row_storage.hpp"
#include "record/schema.hpp"

namespace graphsan::record {
namespace {

constexpr const char* kNotFinished = "the run ended before it was finished";

/// A name beside `path` that no other running process uses.
std::filesystem::path aside_of(const std::filesystem::path& path) {
  std::filesystem::path aside = path;
  aside.replace_filename("." + path.filename().string() + "." + std::to_string(::getpid()) +
                         ".part");
  return aside;
}

void remove_with_journal(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(path.string() + "-journal", ignored);
}

void create_tables(Database& database) {
  database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  database.execute(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
  database.execute(schema_sql());
}

/// Replaces what is stored of the run, all but its cases.
void store_run(Database& database, const model::RunReport& report, bool finished) {
  for (const char* table : {"run", "environment", "error_budgets", "capacities", "limits"}) {
    database.prepare(std::string{"DELETE FROM "} + table).run();
  }
  const std::vector<Key> key{{"run_id", 0}};
  store_row(database, "run", key, report);
  store_row(database, "environment", key, report.environment);
  database.prepare("UPDATE run SET finished = ?").bind(std::int64_t{finished}).run();
  if (finished) return;
  database.prepare("UPDATE run SET complete = 0, incomplete_reason = ?").bind(kNotFinished).run();
}

}  // namespace

struct RecordingWriter::State {
  std::filesystem::path path;
  std::filesystem::path aside;
  pid_t owner = ::getpid();
  std::optional<Database> database;
  bool begun = false;
  std::int64_t cases = 0;
};

RecordingWriter::RecordingWriter(const std::filesystem::path& path)
    : state_{std::make_unique<State>()} {
  require_recordable(path);
  state_->path = path;
  state_->aside = aside_of(path);
  remove_with_journal(state_->aside);
  try {
    state_->database.emplace(state_->aside, Database::Access::kCreate);
    state_->database->execute("PRAGMA synchronous = NORMAL");
    Transaction transaction{*state_->database};
    create_tables(*state_->database);
    transaction.commit();
  } catch (const RecordingError& error) {
    state_->database.reset();
    remove_with_journal(state_->aside);
    throw RecordingError{"cannot write " + path.string() +
                         "; check that its folder is writable and has space (" + error.what() +
                         ")"};
  }
}

RecordingWriter::~RecordingWriter() {
  state_->database.reset();
  if (!state_->begun && state_->owner == ::getpid()) remove_with_journal(state_->aside);
}

void RecordingWriter::begin(const model::RunReport& header) {
  if (state_->begun) throw std::logic_error{"RecordingWriter::begin called twice"};
  {
    Transaction transaction{*state_->database};
    store_run(*state_->database, header, false);
    transaction.commit();
  }
  // SQLite's journal is named after the file, so the file is closed while it changes its name.
  state_->database.reset();
  require_recordable(state_->path);
  std::error_code error;
  std::filesystem::remove(state_->path.string() + "-journal", error);
  std::filesystem::rename(state_->aside, state_->path, error);
  if (error) {
    throw RecordingError{"cannot write " + state_->path.string() + ": " + error.message() +
                         "; check that its folder is writable"};
  }
  state_->begun = true;
  state_->database.emplace(state_->path, Database::Access::kWrite);
  state_->database->execute("PRAGMA synchronous = NORMAL");
}

void RecordingWriter::add_case(const model::CaseReport& report) {
  if (!state_->begun) throw std::logic_error{"RecordingWriter::add_case called before begin"};
  Transaction transaction{*state_->database};
  store_row(*state_->database, "cases", {{"case_id", state_->cases}}, report);
  transaction.commit();
  ++state_->cases;
}

void RecordingWriter::finish(const model::RunReport& report) {
  if (!state_->begun) throw std::logic_error{"RecordingWriter::finish called before begin"};
  Transaction transaction{*state_->database};
  store_run(*state_->database, report, true);
  transaction.commit();
}

namespace {

/// A journal left by a killed writer makes SQLite repair the file before it can be read.
Database open_recording(const std::filesystem::path& path) {
  const bool killed_in_transaction = std::filesystem::exists(path.string() + "-journal");
  return Database{path,
                  killed_in_transaction ? Database::Access::kRecover : Database::Access::kRead};
}

std::int64_t pragma(Database& database, const std::string& name) {
  Statement statement = database.prepare("PRAGMA " + name);
  return statement.step() ? statement.integer(0) : 0;
}

/// SQLite fills a short last page with zeros, so the size is checked beside its own check.
void require_intact(Database& database, const std::filesystem::path& path) {
  Statement check = database.prepare("PRAGMA quick_check(1)");
  const bool sound = check.step() && check.text(0) == "ok";
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  if (sound && bytes >= pragma(database, "page_count") * pragma(database, "page_size")) return;
  throw RecordingError{path.string() +
                       " is a truncated or damaged recording; record the run again"};
}

model::RunReport load_run(Database& database) {
  std::vector<model::RunReport> runs = load_rows<model::RunReport>(database, "run", {});
  auto environments = load_rows<model::Environment>(database, "environment", {});
  if (runs.size() != 1 || environments.size() != 1) {
    throw RecordingError{"the tables run and environment must have one row each"};
  }
  model::RunReport report = std::move(runs.front());
  report.environment = std::move(environments.front());
  report.cases = load_rows<model::CaseReport>(database, "cases", {});
  Statement finished = database.prepare("SELECT finished FROM run");
  if (!finished.step() || finished.integer(0) == 0) {
    report.complete = false;
    report.incomplete_reason = kNotFinished;
    model::conclude(report);
  }
  return report;
}

}  // namespace

model::RunReport read_recording(const std::filesystem::path& path) {
  require_recording(path);
  Database database = open_recording(path);
  require_intact(database, path);
  try {
    return load_run(database);
  } catch (const RecordingError& error) {
    throw RecordingError{path.string() + " cannot be read as a recording: " + error.what() +
                         "; record the run again"};
  }
}

}  // namespace graphsan::record
