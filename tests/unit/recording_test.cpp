#include "record/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "tests/support/sample_report.hpp"
#include "tests/support/temp_folder.hpp"

namespace graphsan::record {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write_recording(const std::filesystem::path& path, const model::RunReport& report) {
  RecordingWriter writer{path};
  writer.begin(report);
  for (const model::CaseReport& item : report.cases) writer.add_case(item);
  writer.finish(report);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const RecordingError& error) {
    return error.what();
  }
  return "not refused";
}

std::string read_refusal(const std::filesystem::path& path) {
  return refusal([&] { static_cast<void>(read_recording(path)); });
}

std::string write_refusal(const std::filesystem::path& path) {
  return refusal([&] { RecordingWriter{path}.begin(model::RunReport{}); });
}

/// Runs `work` in a child process that ends without unwinding, as a killed one does.
void run_and_die(const std::function<void()>& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void execute(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(raw);
}

TEST(Recording, ReadsBackAllThatItWrote) {
  const test::TempFolder folder;
  const model::RunReport report = test::sample_report();
  write_recording(folder / "run.graphsan", report);
  EXPECT_EQ(to_json(read_recording(folder / "run.graphsan")), to_json(report));
  EXPECT_THAT(folder.files(), ElementsAre("run.graphsan"));
}

TEST(Recording, KeepsWhatFinishSaysAndNotWhatBeginSaid) {
  const test::TempFolder folder;
  model::RunReport report;
  report.scenario = "seed";
  RecordingWriter writer{folder / "run.graphsan"};
  writer.begin(report);
  report.complete = true;
  report.verdict = model::Verdict::kAgreed;
  report.exit_code = 0;
  report.seconds = 2.5;
  report.limits = {"one", "two"};
  writer.finish(report);
  EXPECT_EQ(to_json(read_recording(folder / "run.graphsan")), to_json(report));
}

TEST(Recording, OfAKilledRunHoldsItsCasesAndIsIncomplete) {
  const test::TempFolder folder;
  const auto path = folder / "run.graphsan";
  run_and_die([&] {
    RecordingWriter writer{path};
    model::RunReport header;
    header.scenario = "seed";
    writer.begin(header);
    writer.add_case(test::sample_case());
    writer.add_case(test::agreed_case(1, "fused", "full"));
    ::_exit(0);
  });
  const model::RunReport report = read_recording(path);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.incomplete_reason, "the run ended before it was finished");
  EXPECT_EQ(report.exit_code, model::kExitFailed);
  ASSERT_EQ(report.cases.size(), 2U);
  EXPECT_EQ(to_json(report.cases[0]), to_json(test::sample_case()));
}

TEST(Recording, OfAKilledRunNeverAgrees) {
  const test::TempFolder folder;
  run_and_die([&] {
    RecordingWriter writer{folder / "run.graphsan"};
    model::RunReport header;
    header.verdict = model::Verdict::kAgreed;
    header.exit_code = 0;
    writer.begin(header);
    writer.add_case(test::agreed_case(1, "fused", "full"));
    ::_exit(0);
  });
  const model::RunReport report = read_recording(folder / "run.graphsan");
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_EQ(report.exit_code, model::kExitFailed);
}

TEST(Recording, KilledInsideATransactionKeepsTheCasesBefore) {
  const test::TempFolder folder;
  const auto path = folder / "run.graphsan";
  const model::RunReport report = test::sample_report();
  write_recording(path, report);
  run_and_die([&] {
    sqlite3* raw = nullptr;
    sqlite3_open(path.c_str(), &raw);
    sqlite3_exec(raw, "BEGIN; DELETE FROM rows; DELETE FROM nodes; DELETE FROM cases", nullptr,
                 nullptr, nullptr);
    sqlite3_db_cacheflush(raw);
    ::_exit(0);
  });
  ASSERT_TRUE(std::filesystem::exists(folder / "run.graphsan-journal"));
  EXPECT_EQ(to_json(read_recording(path)), to_json(report));
}

TEST(Recording, ReplacesARecordingOnlyOnceTheNewOneHasBegun) {
  const test::TempFolder folder;
  const auto path = folder / "run.graphsan";
  const model::RunReport old = test::sample_report();
  write_recording(path, old);
  {
    RecordingWriter writer{path};
    EXPECT_EQ(to_json(read_recording(path)), to_json(old));
  }
  EXPECT_EQ(to_json(read_recording(path)), to_json(old));
  EXPECT_THAT(folder.files(), ElementsAre("run.graphsan"));
  RecordingWriter writer{path};
  writer.begin(model::RunReport{});
  EXPECT_THAT(read_recording(path).cases, IsEmpty());
}

TEST(Recording, LeavesNothingBehindWhenItNeverBegan) {
  const test::TempFolder folder;
  { RecordingWriter writer{folder / "run.graphsan"}; }
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(Recording, NeverOverwritesAForeignFile) {
  const test::TempFolder folder;
  test::write_file(folder / "notes.txt", "this is not a recording");
  test::write_file(folder / "empty", "");
  execute(folder / "other.db", "CREATE TABLE mine (x)");
  const std::string database = test::read_file(folder / "other.db");
  for (const char* name : {"notes.txt", "empty", "other.db"}) {
    EXPECT_EQ(write_refusal(folder / name),
              (folder / name).string() +
                  " exists and is not a recording, so it is not overwritten; choose another name, "
                  "or remove it first");
  }
  EXPECT_EQ(test::read_file(folder / "notes.txt"), "this is not a recording");
  EXPECT_EQ(test::read_file(folder / "empty"), "");
  EXPECT_EQ(test::read_file(folder / "other.db"), database);
  EXPECT_THAT(folder.files(), ElementsAre("empty", "notes.txt", "other.db"));
}

TEST(Recording, IsNotOverwrittenWhenAForeignFileAppearsMeanwhile) {
  const test::TempFolder folder;
  RecordingWriter writer{folder / "run.graphsan"};
  test::write_file(folder / "run.graphsan", "mine");
  EXPECT_THROW(writer.begin(model::RunReport{}), RecordingError);
  EXPECT_EQ(test::read_file(folder / "run.graphsan"), "mine");
}

TEST(Recording, RefusesPlacesThatCannotBeWritten) {
  const test::TempFolder folder;
  EXPECT_THAT(
      write_refusal(folder / "no/run.graphsan"),
      AllOf(HasSubstr("there is no folder"), EndsWith("create it, or choose another place")));
  EXPECT_THAT(write_refusal(folder.path()),
              EndsWith("is a folder; name a file in it, such as run.graphsan"));
  EXPECT_THAT(write_refusal("/proc/run.graphsan"),
              HasSubstr("check that its folder is writable and has space"));
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(Recording, RefusesToReadWhatIsNone) {
  const test::TempFolder folder;
  test::write_file(folder / "text", "this is not a recording");
  test::write_file(folder / "empty", "");
  execute(folder / "other.db", "CREATE TABLE mine (x)");
  EXPECT_THAT(read_refusal(folder / "text"),
              EndsWith("text is not a recording; make one with `graphsan check --record "
                       "FILE.graphsan`"));
  EXPECT_THAT(read_refusal(folder / "empty"), HasSubstr("empty is not a recording; "));
  EXPECT_THAT(read_refusal(folder / "other.db"),
              HasSubstr("is an SQLite database but not a recording; "));
  EXPECT_THAT(read_refusal(folder / "none"), HasSubstr("does not exist; check the name"));
  EXPECT_THAT(read_refusal(folder.path()), EndsWith("is a folder, not a recording; name the "
                                                    ".graphsan file in it"));
  EXPECT_THAT(folder.files(), ElementsAre("empty", "other.db", "text"));
}

TEST(Recording, RefusesEveryTruncationOfARecording) {
  const test::TempFolder folder;
  write_recording(folder / "run.graphsan", test::sample_report());
  const std::string whole = test::read_file(folder / "run.graphsan");
  ASSERT_GT(whole.size(), 20000U);
  for (const std::size_t size : {std::size_t{50}, std::size_t{100}, std::size_t{4096},
                                 whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    test::write_file(folder / "cut.graphsan", whole.substr(0, size));
    EXPECT_THAT(
        read_refusal(folder / "cut.graphsan"),
        AllOf(HasSubstr("cut.graphsan"), HasSubstr("truncated"), EndsWith("record the run again")))
        << size;
    EXPECT_EQ(test::read_file(folder / "cut.graphsan"), whole.substr(0, size));
  }
  EXPECT_THAT(folder.files(), ElementsAre("cut.graphsan", "run.graphsan"));
}

TEST(Recording, RefusesAnotherSchemaVersion) {
  const test::TempFolder folder;
  write_recording(folder / "run.graphsan", test::sample_report());
  execute(folder / "run.graphsan", "PRAGMA user_version = 99");
  EXPECT_THAT(read_refusal(folder / "run.graphsan"),
              EndsWith("has recording schema 99, this graphsan reads schema 3; read it with the "
                       "version that wrote it, or record the run again"));
}

TEST(Recording, NamesTheColumnOfAWordThatItDoesNotKnow) {
  const test::TempFolder folder;
  write_recording(folder / "run.graphsan", test::sample_report());
  execute(folder / "run.graphsan", "UPDATE rows SET class = 'mising'");
  EXPECT_THAT(read_refusal(folder / "run.graphsan"),
              HasSubstr("rows.class: unknown word 'mising'"));
}

TEST(Recording, KeepsNumbersThatAreNotFinite) {
  const test::TempFolder folder;
  model::RunReport report;
  report.cases.emplace_back().seconds = std::numeric_limits<double>::infinity();
  report.cases.back().timing.eager_ms = std::numeric_limits<double>::quiet_NaN();
  write_recording(folder / "run.graphsan", report);
  EXPECT_EQ(to_json(read_recording(folder / "run.graphsan")), to_json(report));
}

}  // namespace
}  // namespace graphsan::record
