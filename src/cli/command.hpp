#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>

namespace graphsan::cli {

/// The command cannot be run as given. `what()` says what to change; exit code 2.
class BadUsage : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// What every command gets: where to write, and how it was called.
struct Context {
  std::ostream& out;      ///< results
  std::ostream& err;      ///< errors, hints, progress
  bool progress = false;  ///< standard error is a terminal
  bool colour = false;    ///< standard output is a terminal
  std::string command_line;
};

/// Runs a command once its options are parsed; returns the exit code.
using Action = std::function<int(Context& context)>;

/// Commands that end with a `SUMMARY:` line also when they fail.
enum class Summary { kNone, kStandardOutput, kStandardError };

/// Adds a command to `app`; `action` is set when the command is chosen.
struct Registration {
  Action action;
  Summary summary = Summary::kNone;
};

void add_check_command(CLI::App& app, Registration& chosen);
void add_report_command(CLI::App& app, Registration& chosen);
void add_list_command(CLI::App& app, Registration& chosen);
void add_explain_command(CLI::App& app, Registration& chosen);
void add_doctor_command(CLI::App& app, Registration& chosen);
void add_bench_command(CLI::App& app, Registration& chosen);
void add_new_step_command(CLI::App& app, Registration& chosen);
void add_selftest_command(CLI::App& app, Registration& chosen);

}  // namespace graphsan::cli
