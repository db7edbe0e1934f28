#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <thread>

#include "check/run_check.hpp"
#include "check/utc_now.hpp"
#include "cli/check_options.hpp"
#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_line.hpp"
#include "cli/words.hpp"
#include "probes/fault_registry.hpp"

namespace graphsan::cli {

namespace {

constexpr const char* kPlanted = "planted";
constexpr const char* kTwins = "clean twins";

/// The verdict that a planted fault must lead to.
bool is_expected(const std::string& mechanism, model::Verdict verdict) {
  if (mechanism == "numeric-noise" || mechanism == "topk-tie") {
    return verdict == model::Verdict::kAgreed;
  }
  if (mechanism == "unstable-eager") return verdict == model::Verdict::kInconclusive;
  return verdict == model::Verdict::kDiverged || verdict == model::Verdict::kHazard;
}

void add(model::ConfusionMatrix& matrix, const model::CaseReport& one) {
  const bool twin = one.group == kTwins;
  const std::string mechanism = one.config.fault.substr(0, one.config.fault.find(':'));
  const std::string planted = twin ? "none" : mechanism;
  std::set<std::string> found;
  bool confirmed = true;
  for (const model::Finding& finding : one.findings) {
    found.insert(finding.mechanism);
    confirmed = confirmed && finding.status == model::FindingStatus::kConfirmed;
  }
  for (const std::string& id : found) ++matrix.counts[planted][id];
  if (found.empty()) ++matrix.counts[planted]["none"];
  if (!twin) matrix.confirmed[planted] += !found.empty() && confirmed ? 1 : 0;
  // A hazard that did not bite may leave no experiment anything to look at.
  const bool settled =
      confirmed || (one.verdict == model::Verdict::kHazard && one.experiments.empty());
  const bool right = twin ? found.empty() && one.verdict == model::Verdict::kAgreed
                          : found == std::set<std::string>{mechanism} && settled &&
                                one.findings.size() == 1 && is_expected(mechanism, one.verdict);
  if (right && !one.failure) return;
  std::string names;
  for (const model::Finding& finding : one.findings) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", finding.mechanism,
                         to_string(finding.status));
  }
  matrix.wrong.push_back(
      fmt::format("{}{}: {}; verdict {}{}", twin ? "clean twin of " : "", one.config.fault,
                  names.empty() ? "nothing found" : names, to_string(one.verdict),
                  one.failure ? "; failed: " + one.failure->what : std::string{}));
}

void print(const model::ConfusionMatrix& matrix, std::ostream& out) {
  std::set<std::string> columns;
  for (const auto& [planted, row] : matrix.counts) {
    columns.insert(planted);
    for (const auto& [found, count] : row) columns.insert(found);
  }
  std::map<std::string, std::size_t> number;
  for (const std::string& id : columns) number.emplace(id, number.size() + 1);
  out << fmt::format("{:<24}", "planted \\ found");
  for (const auto& [id, column] : number) out << fmt::format("{:>4}", column);
  out << "   confirmed\n";
  for (const auto& [planted, row] : matrix.counts) {
    out << fmt::format("{:>2} {:<21}", number.at(planted), planted);
    for (const auto& [id, column] : number) {
      const auto count = row.find(id);
      out << (count == row.end() ? "   ." : fmt::format("{:>4}", count->second));
    }
    out << (planted == "none" ? std::string{}
                              : fmt::format("   {:>9}", matrix.confirmed.at(planted)))
        << '\n';
  }
}

struct SelftestCommand {
  std::string device = "auto";
  std::vector<std::string> only;
  std::uint64_t seed = 1;
  std::optional<int> jobs;
  double watchdog = 120;
  Outputs outputs;

  [[nodiscard]] std::vector<check::CaseRequest> cases() const;
  int run(Context& context);
};

/// The word is the fault's mechanism, or names this very variant.
bool is_called(const faults::PlantedFault& fault, const std::string& word) {
  return word == fault.id || word == fmt::format("{}:{}", fault.id, fault.variant);
}

/// The one case that a planted fault asks for.
check::CaseRequest case_of(const faults::PlantedFault& fault, bool twin, std::uint64_t seed) {
  CLI::App app;
  CheckWords words;
  add_case_options(app, words);
  words.fault = fmt::format("{}:{}", fault.id, fault.variant);
  words.clean_twin = twin;
  words.seed = seed;
  apply_fault_options(app, words.fault);
  check::CaseRequest request = make_cases(words).at(0);
  request.group = twin ? kTwins : kPlanted;
  request.title = words.fault;
  return request;
}

std::vector<check::CaseRequest> SelftestCommand::cases() const {
  const std::vector<faults::PlantedFault>& planted = faults::planted_faults();
  for (const std::string& word : only) {
    const bool known =
        std::any_of(planted.begin(), planted.end(),
                    [&](const faults::PlantedFault& fault) { return is_called(fault, word); });
    if (known) continue;
    throw BadUsage{fmt::format(
        "--only: no planted mechanism or variant is called '{}'; see `graphsan list faults`",
        word)};
  }
  std::vector<check::CaseRequest> cases;
  for (const bool twin : {false, true}) {
    for (const faults::PlantedFault& fault : planted) {
      const bool wanted =
          only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& word) {
            return is_called(fault, word);
          });
      if (wanted) cases.push_back(case_of(fault, twin, seed));
    }
  }
  return cases;
}

int SelftestCommand::run(Context& context) {
  if (jobs && *jobs < 1) throw BadUsage{"--jobs must be at least 1"};
  if (!(watchdog > 0)) throw BadUsage{"--watchdog must be more than 0 seconds"};
  check::CheckOptions options;
  options.cases = cases();
  options.device = parse_device(device);
  options.scenario = "selftest";
  options.command = context.command_line;
  options.started_at = check::utc_now();
  options.watchdog_seconds = watchdog;
  options.error_budgets = false;
  options.jobs = jobs.value_or(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  outputs.open({});
  model::RunReport report;
  {
    ProgressLine line{context};
    options.on_progress = [&](const check::Progress& p) { line.show(p); };
    report = check::run_check(options);
  }
  const model::ConfusionMatrix& matrix = report.confusion.emplace();
  for (const model::CaseReport& one : report.cases) add(*report.confusion, one);
  const bool failed = std::any_of(report.cases.begin(), report.cases.end(),
                                  [](const model::CaseReport& one) { return one.failure; });
  const bool diagonal = matrix.wrong.empty();
  report.exit_code = failed || !report.complete ? model::kExitFailed
                     : diagonal                 ? model::kExitAgreed
                                                : model::kExitDiverged;
  std::ostream& out = outputs.json_on_stdout() ? context.err : context.out;
  print(matrix, out);
  for (const std::string& line : matrix.wrong) out << "  wrong: " << line << '\n';
  outputs.write(report, context, false);
  const auto twins = static_cast<std::size_t>(
      std::count_if(report.cases.begin(), report.cases.end(),
                    [](const model::CaseReport& one) { return one.group == kTwins; }));
  out << fmt::format("SUMMARY: graphsan: selftest: {}: {} faults and {} clean twins, {} wrong ({})",
                     diagonal ? "diagonal" : "not diagonal", report.cases.size() - twins, twins,
                     matrix.wrong.size(), report.environment.device_name)
      << std::endl;
  return report.exit_code;
}

}  // namespace

void add_selftest_command(CLI::App& app, Registration& chosen) {
  auto command = std::make_shared<SelftestCommand>();
  CLI::App* selftest = app.add_subcommand(
      "selftest", "plant every fault and its clean twin; print what was found as a matrix");
  selftest->add_option("--device", command->device, "auto, cuda, host")->capture_default_str();
  selftest
      ->add_option("--only", command->only, "these mechanisms or variants alone: ID or ID:VARIANT")
      ->delimiter(',');
  selftest->add_option("--seed", command->seed, "seed of all drawn values")
      ->capture_default_str()
      ->check(problem_of_seed);
  selftest->add_option("--jobs", command->jobs,
                       "cases at once on the host device (default: one a core)");
  selftest
      ->add_option("--watchdog", command->watchdog,
                   "seconds without a sign of life after which a case is given up")
      ->capture_default_str();
  command->outputs.add_options(*selftest);
  selftest->callback([command, &chosen] {
    chosen.action = [command](Context& context) { return command->run(context); };
    chosen.summary =
        command->outputs.json_on_stdout() ? Summary::kStandardError : Summary::kStandardOutput;
  });
}

}  // namespace graphsan::cli
