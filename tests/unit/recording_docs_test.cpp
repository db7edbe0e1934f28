#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "record/recording.hpp"
#include "tests/support/sample_report.hpp"
#include "tests/support/temp_folder.hpp"

namespace graphsan::record {
namespace {

using Row = std::vector<std::string>;

/// The sample report as a recording, open for reading, and docs/recording.md.
class RecordingDocs : public ::testing::Test {
 protected:
  void SetUp() override {
    const model::RunReport report = test::sample_report();
    RecordingWriter writer{path_};
    writer.begin(report);
    for (const model::CaseReport& item : report.cases) writer.add_case(item);
    writer.finish(report);
    ASSERT_EQ(sqlite3_open_v2(path_.c_str(), &raw_, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const char* const data = std::getenv("GRAPHSAN_TEST_DATA");
    ASSERT_NE(data, nullptr) << "set GRAPHSAN_TEST_DATA to tests/data";
    page_ = test::read_file(std::filesystem::path{data} / "../../docs/recording.md");
    ASSERT_FALSE(page_.empty());
  }
  void TearDown() override { sqlite3_close(raw_); }

  std::vector<Row> query(const std::string& sql) {
    std::vector<Row> rows;
    const auto take = [](void* into, int count, char** values, char**) {
      Row& row = static_cast<std::vector<Row>*>(into)->emplace_back();
      for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "" : values[i]);
      return 0;
    };
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(raw_, sql.c_str(), take, &rows, &message), SQLITE_OK)
        << sql << ": " << (message == nullptr ? "" : message);
    sqlite3_free(message);
    return rows;
  }

  /// The SQL examples, each with the heading that it stands under.
  std::vector<std::pair<std::string, std::string>> examples() const {
    std::vector<std::pair<std::string, std::string>> found;
    std::string heading;
    const std::regex piece{"\n## ([^\n]*)|```sql\n([^`]*)```"};
    for (std::sregex_iterator it{page_.begin(), page_.end(), piece}, end; it != end; ++it) {
      if ((*it)[1].matched) heading = (*it)[1];
      if ((*it)[2].matched) found.emplace_back(heading, (*it)[2]);
    }
    return found;
  }

  test::TempFolder folder_;
  std::filesystem::path path_ = folder_ / "run.graphsan";
  sqlite3* raw_ = nullptr;
  std::string page_;
};

TEST_F(RecordingDocs, ExamplesRunAndFindSomething) {
  const auto all = examples();
  EXPECT_EQ(all.size(), 12U);
  for (const auto& [heading, sql] : all) EXPECT_FALSE(query(sql).empty()) << heading << "\n" << sql;
}

TEST_F(RecordingDocs, EverySectionHasTwoExamples) {
  std::map<std::string, int> counts;
  for (const auto& [heading, sql] : examples()) ++counts[heading];
  for (const auto& [heading, count] : counts) EXPECT_EQ(count, 2) << heading;
  EXPECT_EQ(counts.size(), 6U);
}

TEST_F(RecordingDocs, NameEveryTableAndColumnAndNoOther) {
  std::set<std::string> schema;
  for (const Row& table : query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")) {
    schema.insert(table[0]);
    for (const Row& column : query("SELECT name FROM pragma_table_info('" + table[0] + "')")) {
      schema.insert(column[0]);
    }
  }
  std::set<std::string> named;
  const std::string prose = std::regex_replace(page_, std::regex{"```sql\n[^`]*```"}, "");
  const std::regex word{"`([a-z_0-9]+)`"};
  for (std::sregex_iterator it{prose.begin(), prose.end(), word}, end; it != end; ++it) {
    named.insert((*it)[1]);
  }
  EXPECT_EQ(named, schema);
}

TEST_F(RecordingDocs, SayTheFilesNumbers) {
  EXPECT_EQ(query("PRAGMA application_id")[0][0], std::to_string(0x4753616E));
  EXPECT_EQ(query("PRAGMA user_version")[0][0], "3");
  EXPECT_THAT(page_, ::testing::HasSubstr("0x4753616E"));
}

TEST_F(RecordingDocs, DifferencesGivePageAndSlot) {
  EXPECT_EQ(query("SELECT layer, cache, page, slot, class, origin FROM differences")[0],
            (Row{"1", "index-key", "33", "126", "missing", "earlier-step"}));
}

}  // namespace
}  // namespace graphsan::record
