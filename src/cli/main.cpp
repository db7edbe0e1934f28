#include <unistd.h>
#include <algorithm>
#include <iterator>
#include <string_view>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "check/device_choice.hpp"
#include "cli/command.hpp"
#include "device/error.hpp"
#include "model/verdict.hpp"
#include "record/output_file.hpp"
#include "record/recording.hpp"
#include "step/minimax_m3/config.hpp"

namespace graphsan::cli {

namespace {

std::string quote_command_line(int argc, char** argv) {
  std::string line = "graphsan";
  for (int i = 1; i < argc; ++i) line += std::string{" "} + argv[i];
  return line;
}

int fail(Context& context, Summary summary, int code, const char* kind, const std::string& what,
         const std::string& hint) {
  context.err << "graphsan: " << kind << ": " << what << '\n';
  if (!hint.empty()) context.err << "Hint: " << hint << '\n';
  std::string first_line = what.substr(0, what.find('\n'));
  const std::string line = "SUMMARY: graphsan: " + std::string{kind} + ": " + first_line;
  switch (summary) {
    case Summary::kNone:
      break;
    case Summary::kStandardOutput:
      context.out << line << std::endl;
      break;
    case Summary::kStandardError:
      context.err << line << std::endl;
      break;
  }
  return code;
}

/// Runs the chosen command; every failure becomes one message and its exit code here.
int run_action(const Registration& chosen, Context& context) {
  const auto usage = [&](const std::exception& error) {
    return fail(context, chosen.summary, model::kExitUsage, "bad usage", error.what(), "");
  };
  try {
    const int code = chosen.action(context);
    if (!context.out.flush()) {
      throw std::runtime_error{"cannot write to standard output: is the disk full?"};
    }
    return code;
  } catch (const BadUsage& error) {
    return usage(error);
  } catch (const step::minimax_m3::ConfigError& error) {
    return usage(error);
  } catch (const record::UsageError& error) {
    return usage(error);
  } catch (const record::RecordingError& error) {
    return usage(error);
  } catch (const check::NoGpuError& error) {
    return fail(context, chosen.summary, model::kExitNoGpu, "no GPU", error.what(), error.remedy());
  } catch (const std::exception& error) {
    return fail(context, chosen.summary, model::kExitFailed, "tool or device failure", error.what(),
                "`graphsan doctor` says what works on this machine");
  }
}

/// A subcommand whose last line is a SUMMARY was named, although its options did not parse.
Summary summary_of(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  constexpr std::string_view kWithSummary[] = {"check", "report", "bench", "selftest"};
  if (std::find(std::begin(kWithSummary), std::end(kWithSummary), command) ==
      std::end(kWithSummary)) {
    return Summary::kNone;
  }
  for (int i = 2; i < argc; ++i) {
    const bool takes_file = i + 1 < argc && argv[i + 1][0] != '-';
    if (std::string{argv[i]} == "--json" && !takes_file) return Summary::kStandardError;
  }
  return Summary::kStandardOutput;
}

/// What is wrong with the command's name, or empty: the parser only says that one is missing.
std::string wrong_command(const CLI::App& app, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.starts_with('-')) return {};
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return {};
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  if (word.empty()) return "give a command: " + names;
  return "unknown command '" + word + "'; there are: " + names;
}

int run(int argc, char** argv) {
  Context context{std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1, ::isatty(STDOUT_FILENO) == 1,
                  quote_command_line(argc, argv)};
  CLI::App app{"GraphSan: a sanitizer for CUDA graphs", "graphsan"};
  app.set_version_flag("--version", std::string{"graphsan "} + GRAPHSAN_VERSION);
  app.require_subcommand(1);
  Registration chosen;
  add_check_command(app, chosen);
  add_report_command(app, chosen);
  add_list_command(app, chosen);
  add_explain_command(app, chosen);
  add_doctor_command(app, chosen);
  add_bench_command(app, chosen);
  add_new_step_command(app, chosen);
  add_selftest_command(app, chosen);
  if (const std::string wrong = wrong_command(app, argc, argv); !wrong.empty()) {
    return fail(context, Summary::kNone, model::kExitUsage, "bad usage", wrong,
                "graphsan --help, or graphsan COMMAND --help");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr);
    return fail(context, summary_of(argc, argv), model::kExitUsage, "bad usage", error.what(),
                "graphsan --help, or graphsan COMMAND --help");
  }
  return run_action(chosen, context);
}

}  // namespace

}  // namespace graphsan::cli

int main(int argc, char** argv) { return graphsan::cli::run(argc, argv); }
