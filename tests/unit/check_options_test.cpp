#include "cli/check_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "probes/fault_registry.hpp"
#include "tests/support/temp_folder.hpp"

namespace graphsan::cli {
namespace {

using step::minimax_m3::WritePath;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `check` with its case options alone, parsed as the command line is.
class CheckOptions : public ::testing::Test {
 protected:
  CheckOptions() { add_case_options(app_, words_); }

  void parse(const std::string& line) { app_.parse(line); }
  void plant() { apply_fault_options(app_, words_.fault); }

  CLI::App app_;
  CheckWords words_;
};

TEST_F(CheckOptions, AFaultsOptionsAreItsDefaults) {
  parse("--fault elided-write:index-key");
  plant();
  EXPECT_THAT(words_.kv_dtype, ElementsAre("fp8_e5m2"));
  EXPECT_THAT(words_.write_path, ElementsAre("two-step"));
  const std::vector<check::CaseRequest> cases = make_cases(words_);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].fault, "elided-write:index-key");
  EXPECT_EQ(cases[0].config.kv_dtype, model::DType::kFp8E5M2);
  EXPECT_EQ(cases[0].config.write_path, WritePath::kTwoStep);
}

TEST_F(CheckOptions, GivenOptionsBeatAFaults) {
  parse("--kv-dtype bf16,fp8_e4m3 --fault elided-write:index-key");
  plant();
  EXPECT_THAT(words_.kv_dtype, ElementsAre("bf16", "fp8_e4m3"));
  EXPECT_THAT(words_.write_path, ElementsAre("two-step"));
  EXPECT_EQ(make_cases(words_).size(), 2U);
}

TEST_F(CheckOptions, AnOptionGivenItsOwnDefaultBeatsAFaultsToo) {
  const std::vector<std::string> usual = words_.write_path;
  ASSERT_EQ(usual.size(), 1U);
  ASSERT_NE(usual[0], "two-step");
  parse("--fault elided-write:index-key --write-path " + usual[0]);
  plant();
  EXPECT_EQ(words_.write_path, usual);
}

TEST_F(CheckOptions, AScenarioFilesOptionsBeatAFaults) {
  const test::TempFolder folder;
  test::write_file(folder / "case.toml",
                   "fault = \"elided-write:index-key\"\nkv-dtype = \"fp8_e4m3\"\n");
  parse("");
  apply_scenario_file(app_, folder / "case.toml");
  plant();
  EXPECT_THAT(words_.kv_dtype, ElementsAre("fp8_e4m3"));
  EXPECT_THAT(words_.write_path, ElementsAre("two-step"));
}

TEST_F(CheckOptions, WithoutAFaultTheDefaultsStand) {
  const CheckWords usual;
  parse("");
  plant();
  EXPECT_EQ(words_.kv_dtype, usual.kv_dtype);
  EXPECT_EQ(words_.write_path, usual.write_path);
}

TEST_F(CheckOptions, AnUnknownFaultIsRefusedWithThoseThatThereAre) {
  parse("--fault elided-write:no-such-variant");
  try {
    plant();
    FAIL() << "accepted";
  } catch (const BadUsage& error) {
    EXPECT_THAT(error.what(), HasSubstr("'elided-write:no-such-variant'"));
    EXPECT_THAT(error.what(), HasSubstr("elided-write:index-key"));
  }
}

TEST_F(CheckOptions, TheCleanTwinIsAskedForInEveryCase) {
  parse("--fault elided-write:index-key --clean-twin --layout nhd,hnd");
  plant();
  const std::vector<check::CaseRequest> cases = make_cases(words_);
  ASSERT_EQ(cases.size(), 2U);
  for (const check::CaseRequest& request : cases) {
    EXPECT_TRUE(request.clean_twin);
    EXPECT_THAT(check::reproduce_command(request, "host"),
                HasSubstr("--fault elided-write:index-key --clean-twin"));
  }
}

TEST_F(CheckOptions, WithoutTheFlagTheFaultItselfIsPlanted) {
  parse("--fault elided-write:index-key");
  plant();
  const check::CaseRequest request = make_cases(words_).at(0);
  EXPECT_FALSE(request.clean_twin);
  EXPECT_EQ(check::reproduce_command(request, "host").find("--clean-twin"), std::string::npos);
}

TEST(PlantedFaults, WantOptionsThatCheckHasAndThatMakeACase) {
  ASSERT_FALSE(faults::planted_faults().empty());
  for (const faults::PlantedFault& fault : faults::planted_faults()) {
    const std::string name = fault.id + ":" + fault.variant;
    std::istringstream words{fault.options};
    int count = 0;
    for (std::string word; words >> word; ++count) {
      EXPECT_EQ(word.starts_with("--"), count % 2 == 0) << name << ": " << word;
    }
    EXPECT_EQ(count % 2, 0) << name << ": an option without a value";
    CLI::App app;
    CheckWords made;
    add_case_options(app, made);
    app.parse("--fault " + name);
    ASSERT_NO_THROW(apply_fault_options(app, made.fault)) << name;
    EXPECT_NO_THROW(EXPECT_FALSE(make_cases(made).empty())) << name;
  }
}

}  // namespace
}  // namespace graphsan::cli
