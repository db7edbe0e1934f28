#include "record/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace graphsan::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string usage_error(const std::filesystem::path& target) {
  try {
    OutputFile file{target};
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(OutputFile, AppearsWithAllItsContentAtCommit) {
  const test::TempFolder folder;
  OutputFile file{folder / "report.html"};
  EXPECT_THAT(folder.files(), IsEmpty());
  file.stream() << "whole";
  EXPECT_FALSE(std::filesystem::exists(folder / "report.html"));
  file.commit();
  EXPECT_THAT(folder.files(), ElementsAre("report.html"));
  EXPECT_EQ(test::read_file(folder / "report.html"), "whole");
}

TEST(OutputFile, LeavesTheOldFileAndNothingElseWithoutCommit) {
  const test::TempFolder folder;
  test::write_file(folder / "report.html", "old");
  {
    OutputFile file{folder / "report.html"};
    file.stream() << "half";
  }
  EXPECT_THAT(folder.files(), ElementsAre("report.html"));
  EXPECT_EQ(test::read_file(folder / "report.html"), "old");
}

TEST(OutputFile, ReplacesTheOldFileAtCommit) {
  const test::TempFolder folder;
  test::write_file(folder / "r.json", "old and longer");
  OutputFile file{folder / "r.json"};
  file.stream() << "new";
  file.commit();
  EXPECT_EQ(test::read_file(folder / "r.json"), "new");
}

TEST(OutputFile, WritesWhereASymbolicLinkPoints) {
  const test::TempFolder folder;
  test::write_file(folder / "real.json", "old");
  std::filesystem::create_symlink("real.json", folder / "link.json");
  OutputFile file{folder / "link.json"};
  file.stream() << "new";
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
  EXPECT_EQ(test::read_file(folder / "real.json"), "new");
}

TEST(OutputFile, WritesDevicesInPlace) {
  OutputFile file{"/dev/null"};
  file.stream() << "gone";
  EXPECT_NO_THROW(file.commit());
}

TEST(OutputFile, SaysThatADiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  OutputFile file{"/dev/full"};
  file.stream() << "lost";
  EXPECT_THROW(file.commit(), std::runtime_error);
}

TEST(OutputFile, RefusesUnusableTargetsAndSaysWhatToDo) {
  const test::TempFolder folder;
  EXPECT_EQ(usage_error(folder / "no/such/r.html"),
            "cannot write " + (folder / "no/such/r.html").string() + ": there is no folder " +
                (folder / "no/such").string() + "; create it, or choose another place");
  EXPECT_THAT(usage_error(folder.path()), HasSubstr("names a folder; name a file in it"));
  EXPECT_THAT(usage_error(""), HasSubstr("name a file"));
  EXPECT_THAT(usage_error("/proc/r.html"), HasSubstr("/proc is not writable"));
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(OutputFile, IsNotRemovedByAForkedChild) {
  const test::TempFolder folder;
  auto file = std::make_unique<OutputFile>(folder / "r.json");
  file->stream() << "content" << std::flush;
  const pid_t child = ::fork();
  if (child == 0) {
    file.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  file->commit();
  EXPECT_EQ(test::read_file(folder / "r.json"), "content");
}

}  // namespace
}  // namespace graphsan::record
