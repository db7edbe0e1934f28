#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "model/event.hpp"
#include "model/run_report.hpp"

namespace graphsan::record {

/// A file that is no recording, is truncated, or is of another schema. `what()` says which, and
/// what to do.
class RecordingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes one recording (SQLite, `.graphsan`); schema in docs/recording.md.
///
/// Each add_case() is a transaction, so a killed run leaves a readable file marked incomplete until
/// finish(). An existing file that is no recording is never overwritten.
class RecordingWriter {
 public:
  /// Creates the file, or replaces an existing recording. Throws RecordingError.
  explicit RecordingWriter(const std::filesystem::path& path);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Stores everything of the run but its cases.
  void begin(const model::RunReport& header);
  void add_case(const model::CaseReport& report);
  /// Stores verdict, times and error budgets and marks the recording complete if `report.complete`.
  void finish(const model::RunReport& report);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a recording back; a recording never finished comes back with `complete == false`.
[[nodiscard]] model::RunReport read_recording(const std::filesystem::path& path);

/// One value of the model as JSON text and back; what the worker process sends and what fact files
/// hold. An absent field keeps its default; the parsers throw RecordingError naming a field that is
/// unknown, of a wrong type or out of range.
[[nodiscard]] std::string to_json(const model::CaseReport& report);
[[nodiscard]] model::CaseReport case_from_json(const std::string& text);
[[nodiscard]] std::string to_json(const model::Facts& facts);
[[nodiscard]] model::Facts facts_from_json(const std::string& text);
[[nodiscard]] std::string to_json(const model::RunReport& report);
[[nodiscard]] model::RunReport run_from_json(const std::string& text);

}  // namespace graphsan::record
