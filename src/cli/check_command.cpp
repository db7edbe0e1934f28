#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <random>
#include <thread>
#include <utility>

#include "check/minimize.hpp"
#include "check/plugin_case.hpp"
#include "check/run_check.hpp"
#include "check/utc_now.hpp"
#include "cli/check_options.hpp"
#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_line.hpp"
#include "cli/words.hpp"
#include "probes/fault_registry.hpp"
#include "reports/reports.hpp"

namespace graphsan::cli {

namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_interrupt(int) { g_interrupted = 1; }

/// Everything that `check` was asked for.
struct CheckCommand {
  CLI::App* app = nullptr;
  CheckWords words;
  Outputs outputs;
  std::string record;
  double watchdog = 120;
  std::optional<int> jobs;
  bool blind = false;
  bool minimize = false;

  void plant_blindly();
  void print_minimized(const check::CheckOptions& options, const model::RunReport& report,
                       Context& context) const;
  [[nodiscard]] std::vector<check::CaseRequest> cases();
  [[nodiscard]] int jobs_or_cores() const;
  void open_outputs();
  int run(Context& context);
};

std::vector<check::CaseRequest> CheckCommand::cases() {
  const bool seed =
      words.scenario == "seed" || (words.scenario.empty() && !blind && !describes_a_case(*app));
  if (!words.scenario.empty() && words.scenario != "seed") {
    apply_scenario_file(*app, words.scenario);
  }
  if (is_plugin(words)) return make_plugin_case(*app, words);
  apply_fault_options(*app, words.fault);
  if (!seed) return make_cases(words);
  if (describes_a_case(*app)) {
    throw BadUsage{
        "--scenario seed is a fixed experiment: leave out the options that describe a case, or "
        "leave out --scenario"};
  }
  words.scenario = "seed";
  return check::seed_scenario();
}

/// Plants one of all faults, their clean twins, or nothing, by --seed where it is given; nobody is
/// told which before the verdict.
void CheckCommand::plant_blindly() {
  if (!words.fault.empty() || words.clean_twin) {
    throw BadUsage{"--blind plants a fault of its own choice: leave out --fault and --clean-twin"};
  }
  const std::vector<faults::PlantedFault>& planted = faults::planted_faults();
  std::mt19937_64 draws{app->count("--seed") > 0 ? words.seed : std::random_device{}()};
  // As many draws of "nothing" as of one mechanism, or a guess of "a fault" would always be right.
  constexpr std::size_t kNothing = 8;
  const std::size_t drawn = draws() % (planted.size() + kNothing);
  if (drawn >= planted.size()) return;
  words.fault = planted[drawn].id + ":" + planted[drawn].variant;
  words.clean_twin = draws() % 4 == 0;
}

/// Takes what was planted out of a report that is shown before it is told, and returns the command
/// that gives it away.
std::string hide_planted(model::RunReport& report) {
  std::string command;
  for (model::CaseReport& one : report.cases) {
    one.config.fault.clear();
    command = std::exchange(one.reproduce, {});
  }
  return command;
}

/// Shrinks the first case that diverges or is a hazard, and prints the command that runs it.
void CheckCommand::print_minimized(const check::CheckOptions& options,
                                   const model::RunReport& report, Context& context) const {
  std::ostream& out = outputs.json_on_stdout() ? context.err : context.out;
  const auto shows = [](const model::CaseReport& one) {
    return !one.failure &&
           (one.verdict == model::Verdict::kDiverged || one.verdict == model::Verdict::kHazard);
  };
  const auto found = std::find_if(report.cases.begin(), report.cases.end(), shows);
  if (found == report.cases.end()) {
    out << "Minimized: no case diverges, so there is nothing to shrink\n";
    return;
  }
  check::CheckOptions one = options;
  one.recording.reset();
  one.on_progress = {};
  one.error_budgets = false;
  one.jobs = 1;
  const check::Minimized least =
      check::minimize(options.cases.at(static_cast<std::size_t>(found->index)), *found,
                      [&](const check::CaseRequest& request) {
                        one.cases = {request};
                        const model::RunReport smaller = check::run_check(one);
                        // Interrupted: a case without a verdict shows nothing, so no size shrinks.
                        return smaller.cases.empty() ? model::CaseReport{} : smaller.cases.front();
                      });
  out << fmt::format("Minimized: {} smaller cases tried; {}\n  {}\n", least.tried,
                     least.shrunk.empty() ? std::string{"none shows the same"}
                                          : fmt::format("{}", fmt::join(least.shrunk, ", ")),
                     least.report.reproduce);
}

int CheckCommand::jobs_or_cores() const {
  if (jobs && *jobs < 1) throw BadUsage{"--jobs must be at least 1"};
  return jobs.value_or(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

void CheckCommand::open_outputs() {
  if (record.empty()) {
    outputs.open({});
    return;
  }
  const record::OutputFile writable{record};
  outputs.open({{"written by --record", record}});
}

int CheckCommand::run(Context& context) {
  check::CheckOptions options;
  if (blind && minimize) {
    throw BadUsage{"--minimize prints the command, and with it what --blind planted: choose one"};
  }
  if (blind && app->count("--step") > 0) {
    throw BadUsage{"--blind plants a fault into the built-in step: leave out --step"};
  }
  if (blind && !words.scenario.empty()) {
    throw BadUsage{"--blind plants a fault into one case: leave out --scenario"};
  }
  if (blind) plant_blindly();
  options.cases = cases();
  if (is_plugin(words)) {
    if (minimize) {
      throw BadUsage{"--minimize shrinks the built-in step; a plug-in has its own numbers"};
    }
    options.factory = check::make_plugin_step;
    options.admit = check::admit_plugin_step;
    options.error_budgets = false;
  }
  options.device = parse_device(words.device);
  options.scenario = words.scenario;
  options.command = context.command_line;
  options.started_at = check::utc_now();
  if (!(watchdog > 0)) throw BadUsage{"--watchdog must be more than 0 seconds"};
  options.watchdog_seconds = watchdog;
  options.jobs = jobs_or_cores();
  open_outputs();
  if (!record.empty()) options.recording = record;
  options.interrupted = [] { return g_interrupted != 0; };
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  model::RunReport report;
  {
    ProgressLine line{context};
    options.on_progress = [&](const check::Progress& p) { line.show(p); };
    report = check::run_check(options);
  }
  const std::string again = blind ? hide_planted(report) : std::string{};
  outputs.write(report, context, true);
  if (minimize && report.complete) print_minimized(options, report, context);
  if (blind) {
    (outputs.json_on_stdout() ? context.err : context.out)
        << "Blind: planted was "
        << (words.fault.empty() ? std::string{"nothing"}
                                : words.fault + (words.clean_twin ? ", repaired" : ""))
        << "; the same again: " << again << "\n";
  }
  (outputs.json_on_stdout() ? context.err : context.out)
      << reports::summary_line(report) << std::endl;
  return report.exit_code;
}

}  // namespace

void add_check_command(CLI::App& app, Registration& chosen) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App* check = app.add_subcommand(
      "check", "run the arms of a step and compare them; lists give the product, as a matrix");
  command->app = check;
  check->add_option("--scenario", command->words.scenario,
                    "seed (the default without case options), or a TOML file of options");
  check->add_option("--device", command->words.device, "auto, cuda, host")->capture_default_str();
  add_case_options(*check, command->words);
  check
      ->add_flag("--minimize", command->minimize,
                 "shrink the first case that diverges to the smallest with the same findings")
      ->group("Case");
  check
      ->add_flag("--blind", command->blind,
                 "plant a fault, a clean twin or nothing at random, and tell after the verdict")
      ->group("Case");
  command->outputs.add_options(*check);
  check->add_option("--record", command->record, "keep everything in a recording")
      ->type_name("FILE")
      ->group("Output");
  check
      ->add_option("--watchdog", command->watchdog,
                   "seconds without a sign of life after which a case is given up")
      ->capture_default_str();
  check->add_option("--jobs", command->jobs,
                    "cases at once on the host device (default: one a core)");
  check->callback([command, &chosen] {
    chosen.action = [command](Context& context) { return command->run(context); };
    chosen.summary =
        command->outputs.json_on_stdout() ? Summary::kStandardError : Summary::kStandardOutput;
  });
}

}  // namespace graphsan::cli
