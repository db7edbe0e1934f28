#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "reports/html/json_values.hpp"
#include "reports/html/row_data.hpp"
#include "reports/reports.hpp"
#include "sample_run.hpp"

namespace graphsan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kDataBegin = R"(<script type="application/json" id="report-data">)";

std::string page_of(const model::RunReport& run) {
  std::ostringstream out;
  reports::make_html_report()->write(run, out);
  return out.str();
}

/// The JSON text of a page: what lies before the first end tag after its opening tag, as a browser
/// reads it.
std::string data_of(const std::string& page) {
  const std::size_t begin = page.find(kDataBegin) + kDataBegin.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

reports::html::Json json_of(const model::RunReport& run) {
  return reports::html::Json::parse(data_of(page_of(run)));
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(HtmlReport, IsOnePageThatAsksForNothing) {
  const std::string page = page_of(test::seed_run());
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("innerHTML")));
}

TEST(HtmlReport, KeepsMarkupInNamesOutOfTheMarkup) {
  const std::string page = page_of(test::hostile_run());
  const std::string clean = page_of(test::seed_run());
  EXPECT_EQ(times(page, "</script"), times(clean, "</script"));
  const std::string data = data_of(page);
  EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
  const auto json = reports::html::Json::parse(data);
  EXPECT_EQ(json["scenario"], test::kHostileText);
  const auto& details = json["cases"][0]["details"];
  EXPECT_THAT(details["caches"]["items"][0]["name"].get<std::string>(),
              HasSubstr(test::kHostileText));
  EXPECT_EQ(details["graph"]["lines"]["items"][1]["launch"]["name"], test::kHostileText);
}

TEST(HtmlReport, ReplacesBytesThatAreNoText) {
  const auto notes = json_of(test::hostile_run())["cases"][0]["details"]["notes"]["items"];
  EXPECT_EQ(notes[1], "not UTF-8: \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(HtmlReport, GivesEqualBytesForEqualReports) {
  EXPECT_EQ(page_of(test::seed_run()), page_of(test::seed_run()));
}

TEST(HtmlReport, SaysWhenTheRunIsIncomplete) {
  const auto json = json_of(test::interrupted_run());
  EXPECT_EQ(json["complete"], false);
  EXPECT_THAT(json["incomplete_reason"].get<std::string>(), HasSubstr("SIGINT"));
  EXPECT_EQ(json_of(test::seed_run())["complete"], true);
}

TEST(HtmlReport, NamesTheDeviceSoThatASimulationShows) {
  EXPECT_EQ(json_of(test::seed_run())["environment"]["device"], "host");
  EXPECT_EQ(json_of(test::agreed_run())["environment"]["device"], "cuda");
}

TEST(HtmlReport, LeadsWithAConfirmedFindingAndARowWithBytes) {
  const auto json = json_of(test::seed_run());
  const auto& lead = json["lead"];
  const auto& chosen = json["cases"][lead["case"].get<std::size_t>()];
  EXPECT_EQ(chosen["verdict"], "diverged");
  EXPECT_EQ(chosen["details"]["findings"][0]["mechanism"], "elided-write");
  bool listed = false;
  for (const auto& row : chosen["details"]["rows"]["items"]) {
    const bool is_it = row["step"] == lead["row"][0] && row["cache"] == lead["row"][1] &&
                       row["row"] == lead["row"][2];
    listed = listed || (is_it && row.contains("eager_bytes") && row.contains("graph_bytes"));
  }
  EXPECT_TRUE(listed);
}

TEST(HtmlReport, LeadsWithNothingWhenAllAgreed) {
  EXPECT_TRUE(json_of(test::agreed_run())["lead"].is_null());
}

TEST(HtmlReport, IsWrittenForAReportWithoutCases) {
  const auto json = json_of(model::RunReport{});
  EXPECT_EQ(json["verdict"], "inconclusive");
  EXPECT_TRUE(json["cases"].empty());
}

TEST(HtmlReport, StaysBelowFiveMegabytesForAMillionRows) {
  const std::int64_t rows = 1'000'000;
  const std::string page = page_of(test::large_run(rows));
  EXPECT_LT(page.size(), 5'000'000U);
  const auto details = reports::html::Json::parse(data_of(page))["cases"][0]["details"];
  EXPECT_EQ(details["rows_differing"], rows);
  EXPECT_EQ(details["classes"][0]["rows"]["total"], rows);
  EXPECT_EQ(details["classes"][0]["rows"]["left_out"], 0);
  const auto& listed = details["rows"];
  EXPECT_GT(listed["items"].size(), 100U);
  EXPECT_EQ(listed["items"].size() + listed["left_out"].get<std::size_t>(),
            static_cast<std::size_t>(rows));
}

TEST(HtmlReport, StaysBelowFiveMegabytesForManyCases) {
  model::RunReport run = test::seed_run();
  const std::vector<model::CaseReport> once = run.cases;
  for (int copy = 0; copy < 20; ++copy) run.cases.insert(run.cases.end(), once.begin(), once.end());
  const std::string page = page_of(run);
  EXPECT_LT(page.size(), 5'000'000U);
  EXPECT_EQ(reports::html::Json::parse(data_of(page))["cases"].size(), run.cases.size());
}

TEST(HtmlReport, CountsScatteredRowsThatItCannotPlace) {
  model::RunReport run = test::large_run(1);
  model::Facts& facts = run.cases[0].facts;
  facts.rows.assign(400'000, facts.rows[0]);
  for (std::size_t i = 0; i < facts.rows.size(); ++i) {
    facts.rows[i].row = static_cast<std::int64_t>(2 * i);
    facts.rows[i].eager_bytes.clear();
  }
  const std::string page = page_of(run);
  EXPECT_LT(page.size(), 5'000'000U);
  const auto rows =
      reports::html::Json::parse(data_of(page))["cases"][0]["details"]["classes"][0]["rows"];
  EXPECT_EQ(rows["ranges"].size() / 2 + rows["left_out"].get<std::size_t>(), 400'000U);
  EXPECT_GT(rows["left_out"], 0);
}

TEST(HtmlJson, EncodesBytesAsBase64) {
  const auto encode = [](std::string_view text) {
    return reports::html::base64(std::as_bytes(std::span{text.data(), text.size()}));
  };
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode("\xff\xef\xbe"), "/+++");
}

TEST(HtmlJson, SaysWhatNumbersCannot) {
  EXPECT_EQ(reports::html::number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(reports::html::number(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(reports::html::number(0.1F).dump(), "0.1");
}

TEST(HtmlJson, JoinsNeighbouringRows) {
  const std::vector<std::int64_t> rows = {3, 4, 5, 9, 20, 21};
  EXPECT_EQ(reports::html::row_ranges(rows, 8).dump(),
            R"({"total":6,"ranges":[3,3,9,1,20,2],"left_out":0})");
  EXPECT_EQ(reports::html::row_ranges(rows, 2).dump(),
            R"({"total":6,"ranges":[3,3,9,1],"left_out":2})");
}

}  // namespace
}  // namespace graphsan
