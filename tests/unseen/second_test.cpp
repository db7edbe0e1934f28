#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/unseen/check_program.hpp"
#include "tests/unseen/second.hpp"
#include "tests/unseen/two_mechanisms.hpp"

namespace graphsan::test {

namespace {

std::string said_of(const model::Finding& finding) {
  std::string text =
      fmt::format("finding {} {} at step {}: {}\n", finding.mechanism,
                  model::to_string(finding.status), finding.first_step, finding.summary);
  for (const std::string& evidence : finding.evidence) text += "    " + evidence + "\n";
  return text + fmt::format("    experiment: {}\n    not runnable: {}\n", finding.experiment,
                            finding.not_runnable);
}

/// How many rows of each class differ in each cache of each layer, and in which steps.
std::string differences_of(const model::Facts& facts) {
  std::map<std::string, int> counts;
  for (const model::RowDifference& row : facts.rows) {
    const model::CacheLayout& layout = facts.caches[static_cast<std::size_t>(row.cache)];
    ++counts[fmt::format("step {} {} {} {}", row.step, layout.name, model::to_string(row.row_class),
                         model::to_string(row.value.kind))];
  }
  for (const model::TopKDifference& top_k : facts.top_k) {
    ++counts[fmt::format("step {} layer {} top-k {}{}", top_k.step, top_k.layer,
                         model::to_string(top_k.kind), top_k.carried ? " carried" : "")];
  }
  for (const model::OutputDifference& output : facts.outputs) {
    ++counts[fmt::format("step {} layer {} output{}", output.step, output.layer,
                         output.carried ? " carried" : "")];
  }
  std::string text;
  for (const auto& [what, count] : counts) text += fmt::format("  {} x {}\n", count, what);
  return text;
}

/// What the tool said, for whoever has to find out why it named something else.
std::string said(const model::CaseReport& report) {
  std::string text =
      fmt::format("\nverdict {} ({})\n", model::to_string(report.verdict), report.reason);
  if (report.failure) text += fmt::format("failure: {}\n", report.failure->what);
  for (const model::Finding& finding : report.findings) text += said_of(finding);
  for (const model::RuledOut& ruled : report.ruled_out) {
    text += fmt::format("ruled out {}: {}\n", ruled.mechanism, ruled.why);
  }
  for (const model::ExperimentRecord& record : report.experiments) {
    text += fmt::format("tried {} [{}] -> {}; sham: {} {}\n", record.name, record.change,
                        record.outcome, record.sham_outcome, record.not_runnable);
  }
  return text + differences_of(report.facts);
}

std::string name_of(std::string words) {
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '-'; }, '_');
  return words;
}

class UnseenSecond : public ::testing::TestWithParam<UnseenFault> {};

TEST_P(UnseenSecond, IsNamedAloneAndConfirmed) {
  const UnseenFault& fault = GetParam();
  const model::CaseReport report = check_program(fault.options, fault.program);
  EXPECT_EQ(report.facts.stability.stable, fault.mechanism != "unstable-eager") << said(report);
  ASSERT_EQ(report.findings.size(), 1U) << said(report);
  EXPECT_EQ(report.findings[0].mechanism, fault.mechanism) << said(report);
  EXPECT_EQ(report.findings[0].status, model::FindingStatus::kConfirmed) << said(report);
}

INSTANTIATE_TEST_SUITE_P(Second, UnseenSecond, ::testing::ValuesIn(unseen_faults_second()),
                         [](const ::testing::TestParamInfo<UnseenFault>& fault) {
                           return name_of(fault.param.mechanism + "_" + fault.param.name);
                         });

class TwoAtOnce : public ::testing::TestWithParam<TwoMechanisms> {};

TEST_P(TwoAtOnce, AreBothNamedAndNothingElse) {
  const model::CaseReport report = check_program(GetParam().options, GetParam().program);
  std::multiset<std::string> found;
  for (const model::Finding& finding : report.findings) {
    found.insert(finding.mechanism);
    EXPECT_EQ(finding.status, finding.mechanism == GetParam().suspected
                                  ? model::FindingStatus::kSuspected
                                  : model::FindingStatus::kConfirmed)
        << finding.mechanism;
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(GetParam().mechanisms)) << said(report);
}

INSTANTIATE_TEST_SUITE_P(Second, TwoAtOnce, ::testing::ValuesIn(steps_with_two_mechanisms()),
                         [](const ::testing::TestParamInfo<TwoMechanisms>& step) {
                           std::string name;
                           for (const std::string& mechanism : step.param.mechanisms) {
                             name += (name.empty() ? "" : "_and_") + name_of(mechanism);
                           }
                           return name + "_" + std::to_string(step.index);
                         });

}  // namespace
}  // namespace graphsan::test
