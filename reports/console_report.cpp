#include <fmt/format.h>

#include <ostream>
#include <set>

#include "reports/console/describe.hpp"
#include "reports/console/sections.hpp"
#include "reports/console/text.hpp"
#include "reports/reports.hpp"

namespace graphsan::reports {
namespace {

using console::Cases;
using console::Paint;
using console::wrap;

std::string banner(const model::RunReport& report, const Paint& paint) {
  const model::Environment& environment = report.environment;
  std::string text = paint.bold("graphsan " + report.tool_version) + "\n";
  std::string device = fmt::format("{} device, {}", environment.device, environment.device_name);
  if (environment.device == "host") {
    device += ": a simulation of CUDA's rules on the CPU, which says nothing about any GPU";
  } else {
    if (!environment.compute_capability.empty()) {
      device += ", compute capability " + environment.compute_capability;
    }
    if (!environment.driver.empty()) device += ", driver " + environment.driver;
  }
  text += wrap("  ", device);
  if (!environment.conversion.empty()) {
    text += wrap("  ", "fp8 conversion: " + environment.conversion);
  }
  if (!environment.tracing.empty()) text += wrap("  ", "tracing: " + environment.tracing);
  if (!report.scenario.empty()) text += wrap("  ", "scenario: " + report.scenario);
  if (!report.complete) {
    text += wrap("  INCOMPLETE: ", report.incomplete_reason.empty() ? "the run did not finish"
                                                                    : report.incomplete_reason);
  }
  return text;
}

std::string bullets(std::string_view heading, const std::vector<std::string>& lines,
                    const Paint& paint) {
  if (lines.empty()) return {};
  std::string text = "\n" + paint.bold(heading) + "\n";
  for (const std::string& line : lines) text += wrap("  - ", line);
  return text;
}

std::vector<std::string> ruled_out_lines(const model::CaseReport& report) {
  std::vector<std::string> lines;
  for (const model::RuledOut& item : report.ruled_out) {
    lines.push_back(item.mechanism + ": " + item.why);
  }
  return lines;
}

std::vector<std::string> experiment_lines(const model::CaseReport& report) {
  std::vector<std::string> lines;
  for (const model::ExperimentRecord& item : report.experiments) {
    if (!item.not_runnable.empty()) {
      lines.push_back(fmt::format("{}: not runnable: {}", item.name, item.not_runnable));
    } else {
      const bool says_name = item.change.rfind(item.name, 0) == 0;
      lines.push_back(fmt::format(
          "{}: {}{}", says_name ? item.change : fmt::format("{} ({})", item.name, item.change),
          item.outcome, item.sham_outcome.empty() ? "" : "; sham: " + item.sham_outcome));
    }
  }
  return lines;
}

std::string run_facts(const model::RunReport& report, const Paint& paint) {
  std::vector<std::string> budgets;
  for (const model::ErrorBudget& budget : report.error_budgets) {
    budgets.push_back(console::budget_text(budget));
  }
  std::vector<std::string> capacities;
  for (const model::Capacity& capacity : report.capacities) {
    capacities.push_back(console::capacity_text(capacity));
  }
  return bullets("Error of the arithmetic itself (mean relative)", budgets, paint) +
         bullets("Capacity", capacities, paint);
}

/// The command that shows the first case worth a look again; never wrapped, to be copied.
std::string run_alone(const model::RunReport& report) {
  for (const model::CaseReport& item : report.cases) {
    if (item.verdict == model::Verdict::kAgreed || item.reproduce.empty()) continue;
    return (report.cases.size() == 1 ? "\nRun again: " : "\nRun the first such case alone: ") +
           item.reproduce + "\n";
  }
  return {};
}

class ConsoleReport final : public ReportWriter {
 public:
  explicit ConsoleReport(Colour colour) : paint_{colour} {}

  void write(const model::RunReport& report, std::ostream& out) const override {
    Cases cases;
    for (const model::CaseReport& item : report.cases) cases.push_back(&item);
    out << banner(report, paint_);
    if (cases.empty()) {
      out << "\nNo case was run.\n";
    } else if (cases.size() == 1) {
      write_one(report.cases.front(), out);
    } else {
      out << verdict_line(report, paint_) << matrix_section(cases, paint_)
          << findings_section(cases, paint_) << unexplained_section(cases, paint_);
    }
    write_shared(cases, out);
    out << run_facts(report, paint_) << bullets("Limits of this run", report.limits, paint_)
        << run_alone(report);
  }

 private:
  void write_one(const model::CaseReport& report, std::ostream& out) const {
    const std::string title =
        report.title.empty() ? console::case_name(report.config) : report.title;
    out << "\n" << paint_.bold(title) << "\n" << case_facts(report, paint_);
    out << findings_section({&report}, paint_);
  }

  void write_shared(const Cases& cases, std::ostream& out) const {
    out << chain_section(cases, paint_) << shared_lines("Ruled out", cases, paint_, ruled_out_lines)
        << shared_lines("Experiments", cases, paint_, experiment_lines)
        << shared_lines("Notes", cases, paint_, [](const auto& item) { return item.notes; })
        << shared_lines("Not covered", cases, paint_,
                        [](const auto& item) { return item.not_covered; })
        << timing_section(cases, paint_);
  }

  Paint paint_;
};

}  // namespace

std::string hints(const model::RunReport& report) {
  std::set<std::string> mechanisms;
  for (const model::CaseReport& item : report.cases) {
    for (const model::Finding& finding : item.findings) mechanisms.insert(finding.mechanism);
  }
  std::string text;
  for (const std::string& mechanism : mechanisms) {
    text += "Hint: what it is and how to fix it: graphsan explain " + mechanism + "\n";
  }
  return text;
}

std::unique_ptr<ReportWriter> make_console_report(Colour colour) {
  return std::make_unique<ConsoleReport>(colour);
}

}  // namespace graphsan::reports
