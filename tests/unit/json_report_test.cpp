#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/reports.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_report.hpp"
#include "tests/support/temp_folder.hpp"

namespace graphsan::reports {
namespace {

using Json = nlohmann::ordered_json;

Json json(const model::RunReport& report) {
  return Json::parse(test::written(*make_json_report(), report));
}

TEST(JsonReport, EqualsTheStoredReport) {
  EXPECT_EQ(test::written(*make_json_report(), test::sample_report()),
            test::read_file(test::golden_folder() / "report.json"));
}

TEST(JsonReport, SaysOfAFindingWhatTheModelSays) {
  const Json finding = json(test::sample_report())["cases"][0]["findings"][0];
  EXPECT_EQ(finding["mechanism"], "elided-write");
  EXPECT_EQ(finding["status"], "confirmed");
  EXPECT_EQ(finding["fix"], "build the attention metadata before capture");
  EXPECT_EQ(finding["where"][0].dump(),
            R"({"cache":"index-key","layer":1,"rows":[[33,126],[33,127],[2,4]],"node":7,)"
            R"("kernel":"index_put","source":"layer 1 / insert"})");
  EXPECT_EQ(finding["where"][1].dump(),
            R"({"cache":"key","layer":1,"rows":[[33,126]],"node":null,"kernel":null,)"
            R"("source":null})");
}

TEST(JsonReport, EchoesTheWordsOfTheCase) {
  const Json item = json(test::sample_report())["cases"][0];
  EXPECT_EQ(item["kv_dtype"], "fp8_e5m2");
  EXPECT_EQ(item["write_path"], "insert-kv-a");
  EXPECT_EQ(item["mode"], "piecewise");
  EXPECT_EQ(item["batch"], "decode");
  EXPECT_EQ(item["layout"], "nhd");
  EXPECT_EQ(item["generation"], "a");
  EXPECT_EQ(item["padded"], true);
  EXPECT_EQ(item["seed"], 0xfffffffffffffff1ULL);
  EXPECT_EQ(item["rows_compared"], 13056);
  EXPECT_EQ(item["replays"], 4);
  EXPECT_EQ(item["nodes"], 57);
}

TEST(JsonReport, GivesNullForNumbersThatJsonDoesNotHave) {
  model::RunReport report = test::sample_report();
  report.seconds = std::numeric_limits<double>::quiet_NaN();
  report.cases[0].facts.outputs[0].max_abs = std::numeric_limits<double>::infinity();
  report.cases[0].facts.top_k[0].graph_scores[0] = std::numeric_limits<float>::quiet_NaN();
  report.cases[0].facts.rows[0].value.max_code_distance = std::numeric_limits<std::int64_t>::max();
  const Json document = json(report);
  EXPECT_TRUE(document["seconds"].is_null());
  const Json& item = document["cases"][0];
  EXPECT_TRUE(item["outputs"]["differences"][0]["max_abs"].is_null());
  EXPECT_TRUE(item["top_k"]["differences"][0]["graph_scores"][0].is_null());
  EXPECT_TRUE(item["row_differences"]["differences"][0]["value"]["max_code_distance"].is_null());
}

TEST(JsonReport, ListsALimitedNumberOfRowsAndCountsAll) {
  model::RunReport report = test::sample_report();
  model::Facts& facts = report.cases[0].facts;
  facts.rows.resize(1000, facts.rows[0]);
  facts.rows_dropped = 234;
  const Json rows = json(report)["cases"][0]["row_differences"];
  EXPECT_EQ(rows["total"], 1234);
  EXPECT_EQ(rows["differences"].size(), 256U);
}

TEST(JsonReport, SaysWhereARowLies) {
  const Json row = json(test::sample_report())["cases"][0]["row_differences"]["differences"][0];
  EXPECT_EQ(row["cache"], "index-key");
  EXPECT_EQ(row["page"], 33);
  EXPECT_EQ(row["slot"], 126);
  EXPECT_EQ(row["eager_digest"], "0123456789abcdef");
  EXPECT_EQ(row["class"], "missing");
  EXPECT_EQ(row["origin"]["kind"], "earlier-step");
}

TEST(JsonReport, SurvivesACacheThatTheFactsDoNotHold) {
  model::RunReport report = test::sample_report();
  report.cases[0].facts.rows[0].cache = 99;
  report.cases[0].facts.capture_changes[0].cache = -1;
  const Json item = json(report)["cases"][0];
  EXPECT_TRUE(item["row_differences"]["differences"][0]["page"].is_null());
  EXPECT_TRUE(item["capture_changes"][0]["cache"].is_null());
}

TEST(JsonReport, SurvivesTextThatIsNotUtf8) {
  model::RunReport report = test::sample_report();
  report.cases[0].notes = {"kernel \xff"};
  EXPECT_EQ(json(report)["cases"][0]["notes"][0], "kernel \xEF\xBF\xBD");
}

}  // namespace
}  // namespace graphsan::reports
