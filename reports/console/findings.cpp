#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "reports/console/describe.hpp"
#include "reports/console/sections.hpp"

namespace graphsan::reports::console {
namespace {

/// Findings of several cases that name the same cause.
struct Cause {
  const model::Finding* finding = nullptr;  ///< of the first case
  Cases cases;
  bool same_everywhere = true;  ///< rows, evidence and experiments are equal in all cases
};

auto cause_of(const model::Finding& finding) {
  return std::tie(finding.mechanism, finding.status, finding.summary, finding.fix);
}

bool same_place(const model::Where& a, const model::Where& b) {
  return std::tie(a.cache, a.layer, a.rows, a.node, a.kernel, a.source) ==
         std::tie(b.cache, b.layer, b.rows, b.node, b.kernel, b.source);
}

bool same_details(const model::Finding& a, const model::Finding& b) {
  return std::tie(a.evidence, a.experiment, a.sham, a.not_runnable) ==
             std::tie(b.evidence, b.experiment, b.sham, b.not_runnable) &&
         std::equal(a.where.begin(), a.where.end(), b.where.begin(), b.where.end(), same_place);
}

std::vector<Cause> causes_of(const Cases& cases) {
  std::vector<Cause> causes;
  for (const model::CaseReport* item : cases) {
    for (const model::Finding& finding : item->findings) {
      auto known = std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) {
        return cause_of(*cause.finding) == cause_of(finding);
      });
      if (known == causes.end()) known = causes.insert(known, Cause{&finding, {}, true});
      known->cases.push_back(item);
      known->same_everywhere = known->same_everywhere && same_details(*known->finding, finding);
    }
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    return a.finding->first_step < b.finding->first_step;
  });
  return causes;
}

std::string details_text(const model::Finding& finding) {
  std::string text;
  for (const model::Where& where : finding.where)
    text += wrap("     where       ", where_text(where));
  for (const std::string& line : finding.evidence) text += wrap("     evidence    ", line);
  if (!finding.experiment.empty()) text += wrap("     experiment  ", finding.experiment);
  if (!finding.sham.empty()) text += wrap("     sham        ", finding.sham);
  if (!finding.not_runnable.empty()) text += wrap("     not run     ", finding.not_runnable);
  return text;
}

std::string cause_text(const Cause& cause, std::size_t number, bool several_cases,
                       const Paint& paint) {
  const model::Finding& finding = *cause.finding;
  std::string text =
      fmt::format("{:>3}. {} ({}), first at step {}\n", number, paint.bad(finding.mechanism),
                  to_string(finding.status), finding.first_step);
  text += wrap("     ", finding.summary);
  if (several_cases) {
    std::vector<std::string> names;
    for (const model::CaseReport* item : cause.cases) names.push_back(case_name(item->config));
    text +=
        wrap(fmt::format("     {:<12}", counted(cause.cases.size(), "case")), join(names, "; "));
    if (!cause.same_everywhere) text += wrap("     as in       ", names.front());
  }
  text += details_text(finding);
  if (!finding.fix.empty()) text += wrap("     fix         ", finding.fix);
  return text;
}

}  // namespace

std::string findings_section(const Cases& cases, const Paint& paint) {
  const std::vector<Cause> causes = causes_of(cases);
  if (causes.empty()) return {};
  std::string text = "\n" + paint.bold("Findings") + "\n";
  for (std::size_t i = 0; i < causes.size(); ++i) {
    text += cause_text(causes[i], i + 1, cases.size() > 1, paint);
  }
  return text;
}

}  // namespace graphsan::reports::console
