#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/console/describe.hpp"
#include "reports/console/sections.hpp"

namespace graphsan::reports::console {
namespace {

std::string upper(std::string_view word) {
  std::string text{word};
  for (char& letter : text) letter = static_cast<char>(std::toupper(letter));
  return text;
}

std::string proof_text(const model::Facts& facts) {
  std::string text = counted(facts.rows_compared, "row") + " compared";
  if (facts.rows_left_out > 0) text += fmt::format(", {} left out", facts.rows_left_out);
  return text +
         fmt::format(", {}, {}", counted(facts.replays, "replay"), counted(facts.nodes, "node"));
}

std::string stability_text(const model::Stability& stability) {
  return fmt::format("eager differs from itself in {} ({}): values are not blamed on the graph",
                     counted(stability.rows_differing, "row"),
                     join(stability.unstable_caches, ", "));
}

}  // namespace

std::string verdict_line(const model::RunReport& report, const Paint& paint) {
  const auto count = std::count_if(report.cases.begin(), report.cases.end(), [&](const auto& item) {
    return item.verdict == report.verdict;
  });
  return "  " + paint.verdict(report.verdict, upper(to_string(report.verdict))) +
         fmt::format(": {} of {}\n", count, counted(report.cases.size(), "case"));
}

std::string case_facts(const model::CaseReport& report, const Paint& paint) {
  std::string text = "  " + paint.verdict(report.verdict, upper(to_string(report.verdict))) + ": " +
                     proof_text(report.facts) + "\n";
  if (report.failure) text += wrap("  FAILED ", failure_text(*report.failure));
  if (!report.reason.empty()) text += wrap("  ", report.reason);
  if (report.facts.stability.ran && !report.facts.stability.stable) {
    text += wrap("  ", stability_text(report.facts.stability));
  }
  const std::vector<std::string> lines = difference_lines(report.facts);
  if (!lines.empty()) text += "\n" + paint.bold("What differs") + "\n";
  for (const std::string& line : lines) text += wrap("  - ", line);
  return text;
}

}  // namespace graphsan::reports::console
