#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "model/run_report.hpp"
#include "record/output_file.hpp"
#include "reports/report_writer.hpp"

namespace graphsan::cli {

/// Where a command writes its reports. Paths are checked before anything runs, files written aside
/// and renamed.
class Outputs {
 public:
  /// A file that the command uses for something else.
  struct Taken {
    std::string by;  ///< as the message names it
    std::filesystem::path path;
  };

  void add_options(CLI::App& command);
  /// Checks every path before anything is read or run. Throws record::UsageError for one that
  /// cannot be written, and BadUsage for one that is taken or named twice.
  void open(std::vector<Taken> taken);
  /// Writes all files, then the report to standard output: JSON if `--json` names no file, else for
  /// people if `console`.
  void write(const model::RunReport& report, Context& context, bool console);
  /// JSON goes to standard output and nothing else does.
  [[nodiscard]] bool json_on_stdout() const;
  [[nodiscard]] bool any_file() const { return !files_.empty(); }

 private:
  struct File {
    std::unique_ptr<record::OutputFile> file;
    std::unique_ptr<reports::ReportWriter> writer;
  };
  std::string html_;
  std::string json_;
  CLI::Option* json_option_ = nullptr;
  std::vector<File> files_;
};

}  // namespace graphsan::cli
