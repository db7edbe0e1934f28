#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/reports.hpp"

namespace graphsan::reports {
namespace {

std::size_t count_cases(const model::RunReport& report, model::Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(report.cases.begin(), report.cases.end(), [verdict](const auto& item) {
        return item.verdict == verdict && !item.failure.has_value();
      }));
}

std::string cases_text(const model::RunReport& report) {
  const std::size_t all = report.cases.size();
  if (all == 0) return "no case was run";
  const std::string noun = all == 1 ? "case" : "cases";
  const std::size_t failed =
      static_cast<std::size_t>(std::count_if(report.cases.begin(), report.cases.end(),
                                             [](const auto& c) { return c.failure.has_value(); }));
  std::size_t said = static_cast<std::size_t>(
      std::count_if(report.cases.begin(), report.cases.end(),
                    [&](const auto& item) { return item.verdict == report.verdict; }));
  std::string text = fmt::format("{} of {} {}", said, all, noun);
  const std::size_t unsure = count_cases(report, model::Verdict::kInconclusive);
  if (unsure > 0 && report.verdict != model::Verdict::kInconclusive) {
    text += fmt::format(", {} inconclusive", unsure);
  }
  return failed == 0 ? text : text + fmt::format(", {} failed", failed);
}

/// Mechanisms in the order of their first finding, each with the number of cases that show it.
std::string mechanisms_text(const model::RunReport& report) {
  std::vector<std::pair<std::string, int>> counts;
  for (const model::CaseReport& item : report.cases) {
    std::vector<std::string> seen;
    for (const model::Finding& finding : item.findings) {
      if (std::find(seen.begin(), seen.end(), finding.mechanism) != seen.end()) continue;
      seen.push_back(finding.mechanism);
      const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& count) {
        return count.first == finding.mechanism;
      });
      if (known == counts.end()) {
        counts.emplace_back(finding.mechanism, 1);
      } else {
        ++known->second;
      }
    }
  }
  std::string text;
  for (const auto& [mechanism, count] : counts) {
    text += (text.empty() ? "" : ", ") + mechanism;
    if (count > 1) text += fmt::format(" ×{}", count);
  }
  return text;
}

/// Why there is no answer, or that a divergence has no known cause.
std::string cause_text(const model::RunReport& report) {
  std::string mechanisms = mechanisms_text(report);
  if (!mechanisms.empty()) return mechanisms;
  switch (report.verdict) {
    case model::Verdict::kAgreed:
    case model::Verdict::kHazard:
      return {};
    case model::Verdict::kDiverged:
      return "cause unknown";
    case model::Verdict::kInconclusive:
      for (const model::CaseReport& item : report.cases) {
        if (item.failure) return item.failure->what;
        if (item.verdict == model::Verdict::kInconclusive && !item.reason.empty()) {
          return item.reason;
        }
      }
      return {};
  }
  return {};
}

std::string on_one_line(std::string text) {
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code == 0x7F) letter = ' ';
  }
  return text;
}

}  // namespace

std::string summary_line(const model::RunReport& report) {
  std::string text =
      fmt::format("SUMMARY: graphsan: {}: {}", to_string(report.verdict), cases_text(report));
  if (!report.complete) text += ", run incomplete";
  if (const std::string cause = cause_text(report); !cause.empty()) text += "; " + cause;
  const model::Environment& environment = report.environment;
  text += environment.device == "host"
              ? " (host device)"
              : fmt::format(" ({} device, {})", environment.device, environment.device_name);
  return on_one_line(text);
}

}  // namespace graphsan::reports
