#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "record/recording.hpp"
#include "tests/support/sample_report.hpp"

namespace graphsan::record {
namespace {

using Json = nlohmann::json;

/// The values of each member, array indices left out of the path.
using Members = std::map<std::string, std::set<std::string>>;

void collect(const Json& json, const std::string& path, Members& members) {
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) collect(value, path + "." + name, members);
  } else if (json.is_array() && !json.empty()) {
    for (const Json& item : json) collect(item, path, members);
  } else {
    members[path].insert(json.dump());
  }
}

Members members_of(const std::string& text) {
  Members members;
  collect(Json::parse(text), "", members);
  return members;
}

template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const RecordingError& error) {
    return error.what();
  }
  return "not refused";
}

/// Whether a path has members below it, so that an empty list or null is not all there is.
bool has_members(const Members& members, const std::string& path) {
  const auto next = members.lower_bound(path + ".");
  return next != members.end() && next->first.rfind(path + ".", 0) == 0;
}

TEST(SampleReport, SetsEveryFieldThatIsRecorded) {
  const std::set<std::string> unset{"0", "0.0", "false", "\"\"", "null", "[]", "-1"};
  const Members defaults = members_of(to_json(model::CaseReport{}));
  const Members run_defaults = members_of(to_json(model::RunReport{}));
  const Members sample = members_of(to_json(test::sample_report()));
  ASSERT_GT(sample.size(), 150U);
  for (const auto& [path, values] : sample) {
    std::set<std::string> set = values;
    for (const std::string& value : unset) set.erase(value);
    const std::string in_case = path.rfind(".cases", 0) == 0 ? path.substr(6) : "";
    if (defaults.count(in_case) != 0) set.erase(*defaults.at(in_case).begin());
    const auto run_default = run_defaults.find(path);
    const bool of_run = run_default != run_defaults.end() && run_default->second != values;
    EXPECT_TRUE(!set.empty() || of_run || has_members(sample, path)) << path;
  }
}

TEST(JsonCodec, ReadsBackAllThatItWrote) {
  const std::string text = to_json(test::sample_report());
  const model::RunReport back = run_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.cases.at(0).facts.rows.at(0).graph_bytes,
            test::sample_report().cases.at(0).facts.rows.at(0).graph_bytes);
  EXPECT_EQ(back.cases.at(0).config.seed, 0xfffffffffffffff1ULL);
  EXPECT_EQ(back.cases.at(0).findings.at(0).where.at(0).node, 7);
  EXPECT_FALSE(back.cases.at(0).findings.at(0).where.at(1).node.has_value());
}

TEST(JsonCodec, ReadsBackACaseAndItsFactsAlone) {
  const std::string text = to_json(test::sample_case());
  EXPECT_EQ(to_json(case_from_json(text)), text);
  const std::string facts = to_json(test::sample_facts());
  EXPECT_EQ(to_json(facts_from_json(facts)), facts);
}

TEST(JsonCodec, KeepsNumbersThatJsonDoesNotHave) {
  model::CaseReport report;
  report.seconds = std::numeric_limits<double>::infinity();
  report.timing.eager_ms = std::numeric_limits<double>::quiet_NaN();
  report.timing.graph_ms = -std::numeric_limits<double>::infinity();
  const model::CaseReport back = case_from_json(to_json(report));
  EXPECT_EQ(back.seconds, report.seconds);
  EXPECT_TRUE(std::isnan(back.timing.eager_ms));
  EXPECT_EQ(back.timing.graph_ms, report.timing.graph_ms);
}

TEST(JsonCodec, KeepsDefaultsOfAbsentFields) {
  const model::Facts facts = facts_from_json(R"({"rows": [{"row": 9}]})");
  ASSERT_EQ(facts.rows.size(), 1U);
  EXPECT_EQ(facts.rows[0].row, 9);
  EXPECT_EQ(facts.rows[0].lane, -1);
}

TEST(JsonCodec, NamesTheFieldThatItRefuses) {
  const auto facts = [](const char* text) {
    return refusal([&] { static_cast<void>(facts_from_json(text)); });
  };
  EXPECT_EQ(facts(R"({"rows": [{}, {"class": "mising"}]})"),
            "facts.rows[1].class: unknown word 'mising'");
  EXPECT_EQ(facts(R"({"rwos": []})"), "facts.rwos: no such field");
  EXPECT_EQ(facts(R"({"nodes": -1})"), "facts.nodes: number out of range");
  EXPECT_EQ(facts(R"({"nodes": 1.5})"), "facts.nodes: expected a whole number");
  EXPECT_EQ(facts(R"({"rows": [{"lane": 3000000000}]})"),
            "facts.rows[0].lane: number out of range");
  EXPECT_EQ(facts(R"({"rows": [{"eager_bytes": "0g"}]})"),
            "facts.rows[0].eager_bytes: expected hexadecimal digits");
  EXPECT_EQ(facts(R"({"steps": 3})"), "facts.steps: expected an array");
  EXPECT_EQ(facts(R"([])"), "facts: expected an object");
}

TEST(JsonCodec, RefusesACutOffText) {
  const std::string text = to_json(test::sample_case());
  EXPECT_EQ(refusal([&] { static_cast<void>(case_from_json(text.substr(0, text.size() / 2))); }),
            "case: not JSON, or cut off");
}

TEST(JsonCodec, SurvivesTextThatIsNotUtf8) {
  model::CaseReport report;
  report.title = "kernel \xff";
  EXPECT_THAT(case_from_json(to_json(report)).title, ::testing::StartsWith("kernel "));
}

}  // namespace
}  // namespace graphsan::record
