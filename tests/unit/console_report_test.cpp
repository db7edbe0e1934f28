#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

#include "reports/console/text.hpp"
#include "reports/reports.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_report.hpp"
#include "tests/support/temp_folder.hpp"

namespace graphsan::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string console(const model::RunReport& report, Colour colour = Colour::kNever) {
  return test::written(*make_console_report(colour), report);
}

model::RunReport report_of(std::vector<model::CaseReport> cases) {
  model::RunReport report = test::sample_report();
  report.cases = std::move(cases);
  report.complete = true;
  model::conclude(report);
  return report;
}

/// The lines from the one that is `heading` to the next empty line.
std::string section(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find("\n" + heading + "\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin + 1, text.find("\n\n", begin) - begin);
}

TEST(ConsoleReport, EqualsTheStoredReports) {
  model::RunReport report = test::sample_report();
  EXPECT_EQ(console(report), test::read_file(test::golden_folder() / "matrix.txt"));
  report.cases.resize(1);
  EXPECT_EQ(console(report), test::read_file(test::golden_folder() / "one_case.txt"));
}

TEST(ConsoleReport, ColoursAddNothingButColour) {
  const model::RunReport report = test::sample_report();
  const std::string coloured = console(report, Colour::kAlways);
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;31mDIVERGED\x1b[0m"));
  EXPECT_EQ(std::regex_replace(coloured, std::regex{"\x1b\\[[0-9;]*m"}, ""), console(report));
  EXPECT_THAT(console(report), Not(HasSubstr("\x1b")));
}

TEST(ConsoleReport, KeepsWithinAHundredColumnsButForCommands) {
  model::RunReport report = test::sample_report();
  std::istringstream lines{console(report)};
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Run ", 0) == 0) continue;
    EXPECT_LE(console::columns_of(line), console::kWidth) << line;
  }
}

TEST(ConsoleReport, SaysThatTheHostDeviceIsASimulation) {
  model::RunReport report = test::sample_report();
  EXPECT_THAT(console(report), HasSubstr("simulation"));
  report.environment.device = "cuda";
  report.environment.device_name = "NVIDIA H200";
  EXPECT_THAT(console(report), AllOf(HasSubstr("cuda device, NVIDIA H200, compute capability 9.0"),
                                     Not(HasSubstr("simulation"))));
}

TEST(ConsoleReport, MarksTheFirstBrokenLinkOnly) {
  const std::string chain = section(console(report_of({test::sample_case()})), "Causal chain");
  EXPECT_THAT(chain, HasSubstr("index-key-write [FIRST BROKEN, step 1, layer 1: 3 rows missing]"));
  EXPECT_THAT(chain, HasSubstr("score [broken, step 2, layer 1]"));
  EXPECT_EQ(chain.find("FIRST"), chain.rfind("FIRST"));
  EXPECT_THAT(chain, HasSubstr("→ next-layer\n"));
}

TEST(ConsoleReport, SaysNothingOfAChainThatIsWhole) {
  model::CaseReport item = test::sample_case();
  for (model::ChainLink& link : item.facts.chain) link.broken = false;
  EXPECT_THAT(console(report_of({item})), Not(HasSubstr("Causal chain")));
}

TEST(ConsoleReport, CompactsRowsToRanges) {
  EXPECT_EQ(console::page_slot_ranges({{33, 127}, {2, 4}, {33, 126}, {33, 126}, {34, 0}}, 9),
            "page 2 slot 4, page 33 slots 126-127, page 34 slot 0");
  EXPECT_EQ(console::page_slot_ranges({{1, 0}, {1, 2}, {1, 3}, {1, 5}, {1, 7}}, 2),
            "page 1 slot 0, page 1 slots 2-3, and 2 more");
  EXPECT_EQ(console::number_ranges({5, 1, 2, 3, 2}), "1-3, 5");
}

TEST(ConsoleReport, SaysAFindingOfSeveralCasesOnceWithTheCases) {
  model::CaseReport first = test::sample_case();
  first.failure.reset();
  model::CaseReport second = first;
  second.config.mode = "full";
  const std::string findings = section(console(report_of({first, second})), "Findings");
  EXPECT_EQ(findings.find("elided-write"), findings.rfind("elided-write"));
  EXPECT_THAT(findings, HasSubstr("2 cases     fp8_e5m2 insert-kv-a piecewise decode 3/4; fp8_e5m2 "
                                  "insert-kv-a full decode 3/4"));
  EXPECT_THAT(findings, Not(HasSubstr("as in")));
}

TEST(ConsoleReport, NamesTheCaseWhoseDetailsItShowsWhereTheyDiffer) {
  model::CaseReport first = test::sample_case();
  model::CaseReport second = first;
  second.config.mode = "full";
  second.findings[0].evidence[1] = "the same 5 rows on every replay";
  const std::string findings = section(console(report_of({first, second})), "Findings");
  EXPECT_THAT(findings, HasSubstr("as in       fp8_e5m2 insert-kv-a piecewise decode 3/4\n"));
  EXPECT_THAT(findings, AllOf(HasSubstr("the same 3 rows"), Not(HasSubstr("the same 5 rows"))));
}

TEST(ConsoleReport, OrdersFindingsByWhatBrokeFirst) {
  model::CaseReport item = test::sample_case();
  std::swap(item.findings[0], item.findings[1]);
  const std::string findings = section(console(report_of({item})), "Findings");
  EXPECT_LT(findings.find("1. elided-write (confirmed)"),
            findings.find("2. padding-write (suspected)"));
}

TEST(ConsoleReport, TellsEachCellHowItsCaseEnded) {
  model::CaseReport elided = test::agreed_case(0, "insert-kv-a", "piecewise");
  elided.verdict = model::Verdict::kDiverged;
  elided.findings = {test::sample_findings()[0]};
  model::CaseReport unknown = test::agreed_case(1, "insert-kv-a", "full");
  unknown.verdict = model::Verdict::kDiverged;
  model::CaseReport unsure = test::agreed_case(2, "two-step", "piecewise");
  unsure.verdict = model::Verdict::kInconclusive;
  unsure.reason = "no row was compared";
  model::CaseReport failed = test::agreed_case(3, "two-step", "full");
  failed.failure = model::Failure{"capture", -1, "the worker died", ""};
  model::CaseReport agreed = test::agreed_case(4, "fused", "full");
  const std::string text = console(report_of({elided, unknown, unsure, failed, agreed}));
  EXPECT_EQ(section(text, "padded"),
            "padded\n"
            "                        piecewise     full\n"
            "  fp8_e5m2 insert-kv-a  elided-write  DIVERGED\n"
            "  fp8_e5m2 two-step     inconclusive  FAILED\n"
            "  fp8_e5m2 fused        -             agreed\n");
  EXPECT_THAT(section(text, "Failed, inconclusive or unexplained"),
              AllOf(HasSubstr("no row was compared"),
                    HasSubstr("FAILED during capture: the worker"), Not(HasSubstr("fused"))));
}

TEST(ConsoleReport, GivesEachGroupATableAndNamesWhatVariesInIt) {
  model::CaseReport nhd = test::agreed_case(0, "fused", "full");
  model::CaseReport hnd = test::agreed_case(1, "fused", "full");
  hnd.config.layout = "hnd";
  model::CaseReport needle = test::agreed_case(2, "fused", "full");
  needle.group = "needle";
  const std::string text = console(report_of({nhd, hnd, needle}));
  EXPECT_THAT(section(text, "padded"), AllOf(HasSubstr("  fp8_e5m2 fused nhd  agreed\n"),
                                             HasSubstr("  fp8_e5m2 fused hnd  agreed\n")));
  EXPECT_THAT(section(text, "needle"), HasSubstr("  fp8_e5m2 fused  agreed\n"));
}

TEST(ConsoleReport, CountsTheCasesOfALineThatNotAllSay) {
  model::CaseReport first = test::agreed_case(0, "fused", "full");
  model::CaseReport second = test::agreed_case(1, "two-step", "full");
  first.notes = {"both say this", "one says this"};
  second.notes = {"both say this"};
  EXPECT_EQ(section(console(report_of({first, second})), "Notes"),
            "Notes\n  - both say this\n  - one says this (1 of 2 cases)\n");
}

TEST(ConsoleReport, ComparesGraphTimesWithBf16) {
  model::CaseReport bf16 = test::agreed_case(0, "fused", "full");
  bf16.config.kv_dtype = "bf16";
  bf16.timing = {2.0, 0.9};
  model::CaseReport fp8 = test::agreed_case(1, "fused", "full");
  fp8.timing = {2.0, 1.0};
  EXPECT_THAT(section(console(report_of({bf16, fp8})), "Time of a step (median)"),
              AllOf(HasSubstr("bf16 fused full decode 3/4: eager 2.000 ms, graph 0.900 ms\n"),
                    HasSubstr("graph 1.000 ms (90 % of bf16's speed)")));
}

TEST(ConsoleReport, CallsAnUnusualErrorNotNormal) {
  model::RunReport report = test::sample_report();
  EXPECT_THAT(console(report), HasSubstr("round trip 4.49 % (expected 4.50 %)"));
  report.error_budgets[0].normal = false;
  EXPECT_THAT(console(report), HasSubstr("NOT normal"));
}

TEST(ConsoleReport, KeepsControlCharactersOfOthersFromTheTerminal) {
  model::CaseReport item = test::sample_case();
  item.findings[0].summary = "name\x1b[2J of\na kernel";
  EXPECT_THAT(console(report_of({item})),
              AllOf(HasSubstr("name [2J of a kernel"), Not(HasSubstr("\x1b"))));
}

TEST(ConsoleReport, PlacesOutputsByLane) {
  model::CaseReport item = test::sample_case();
  item.findings[0].where.resize(1);
  model::Where& place = item.findings[0].where[0];
  place = {};
  place.cache = model::CacheKind::kOutput;
  place.layer = 1;
  place.rows = {{0, 4}};
  EXPECT_THAT(console(report_of({item})), HasSubstr("layer 1 output: lane 4\n"));
  place.rows = {{0, 4}, {0, 5}, {0, 7}};
  EXPECT_THAT(console(report_of({item})), HasSubstr("layer 1 output: lanes 4-5, 7\n"));
}

TEST(ConsoleReport, CountsNoLanesOfACaseThatNeverToldThem) {
  model::CaseReport item = test::sample_case();
  item.config.tokens = 0;
  item.config.bucket = 0;
  EXPECT_THAT(console(report_of({item})), Not(HasSubstr("0/0")));
}

TEST(ConsoleReport, SaysThatNoCaseWasRun) {
  EXPECT_THAT(console(report_of({})), HasSubstr("No case was run."));
}

}  // namespace
}  // namespace graphsan::reports
