#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/console/describe.hpp"
#include "reports/console/sections.hpp"

namespace graphsan::reports::console {
namespace {

/// Lines of one section that are shown when several cases say different things.
constexpr std::size_t kLinesShown = 16;

/// A line, and how many cases say it.
struct SharedLine {
  std::string text;
  std::size_t cases = 0;
};

std::vector<std::string> unexplained_lines(const model::CaseReport& report) {
  std::vector<std::string> lines;
  if (report.failure) lines.push_back("FAILED " + failure_text(*report.failure));
  if (!report.reason.empty()) lines.push_back(report.reason);
  if (report.verdict == model::Verdict::kDiverged && report.findings.empty()) {
    for (std::string& line : difference_lines(report.facts)) lines.push_back(std::move(line));
  }
  return lines;
}

/// Graph step time of the bf16 case that is otherwise nearest: same group, mode and batch size.
double bf16_graph_ms(const Cases& cases, const model::CaseReport& report) {
  for (const model::CaseReport* item : cases) {
    const model::CaseConfig& a = item->config;
    const model::CaseConfig& b = report.config;
    if (a.kv_dtype == "bf16" && a.mode == b.mode && a.batch == b.batch && a.tokens == b.tokens &&
        a.bucket == b.bucket && item->group == report.group && item->timing.graph_ms > 0) {
      return item->timing.graph_ms;
    }
  }
  return 0;
}

}  // namespace

std::string unexplained_section(const Cases& cases, const Paint& paint) {
  std::string text;
  for (const model::CaseReport* item : cases) {
    const bool explained = item->verdict == model::Verdict::kAgreed || !item->findings.empty();
    if (explained && !item->failure) continue;
    text += wrap("  ", fmt::format("{}: {}", case_name(item->config), to_string(item->verdict)));
    for (const std::string& line : unexplained_lines(*item)) text += wrap("    - ", line);
  }
  if (text.empty()) return {};
  return "\n" + paint.bold("Failed, inconclusive or unexplained") + "\n" + text;
}

std::string chain_section(const Cases& cases, const Paint& paint) {
  std::string text;
  for (const model::CaseReport* item : cases) {
    const std::string chain = chain_text(item->facts.chain);
    if (chain.empty()) continue;
    if (cases.size() > 1) text += wrap("  ", case_name(item->config) + ":");
    text += wrap(cases.size() > 1 ? "    " : "  ", chain);
  }
  return text.empty() ? text : "\n" + paint.bold("Causal chain") + "\n" + text;
}

std::string shared_lines(
    std::string_view heading, const Cases& cases, const Paint& paint,
    const std::function<std::vector<std::string>(const model::CaseReport&)>& lines_of) {
  std::vector<SharedLine> lines;
  for (const model::CaseReport* item : cases) {
    for (const std::string& line : lines_of(*item)) {
      const auto known = std::find_if(lines.begin(), lines.end(),
                                      [&](const SharedLine& other) { return other.text == line; });
      if (known == lines.end()) {
        lines.push_back({line, 1});
      } else {
        ++known->cases;
      }
    }
  }
  if (lines.empty()) return {};
  std::string text = "\n" + paint.bold(heading) + "\n";
  const std::size_t shown = cases.size() == 1 ? lines.size() : std::min(lines.size(), kLinesShown);
  for (const SharedLine& line : std::span{lines}.first(shown)) {
    const bool everywhere = line.cases == cases.size();
    text += wrap("  - ", everywhere ? line.text
                                    : fmt::format("{} ({} of {})", line.text, line.cases,
                                                  counted(cases.size(), "case")));
  }
  if (shown < lines.size()) {
    text += fmt::format("  - and {} in the JSON and HTML reports\n",
                        counted(lines.size() - shown, "further line"));
  }
  return text;
}

std::string timing_section(const Cases& cases, const Paint& paint) {
  std::string text;
  for (const model::CaseReport* item : cases) {
    const model::StepTiming& timing = item->timing;
    if (timing.eager_ms <= 0 && timing.graph_ms <= 0) continue;
    std::string line = fmt::format("{}: eager {:.3f} ms, graph {:.3f} ms", case_name(item->config),
                                   timing.eager_ms, timing.graph_ms);
    const double bf16 = bf16_graph_ms(cases, *item);
    if (bf16 > 0 && timing.graph_ms > 0 && item->config.kv_dtype != "bf16") {
      line += fmt::format(" ({:.0f} % of bf16's speed)", 100 * bf16 / timing.graph_ms);
    }
    text += wrap("  - ", line);
  }
  return text.empty() ? text : "\n" + paint.bold("Time of a step (median)") + "\n" + text;
}

}  // namespace graphsan::reports::console
