// The C ABI, with the step of examples/plugin handed over as a table.
#include <gmock/gmock.h>
#include <graphsan/check.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "tests/support/temp_folder.hpp"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

struct FreeReport {
  void operator()(graphsan_report* report) const { graphsan_report_free(report); }
};
using Report = std::unique_ptr<graphsan_report, FreeReport>;

graphsan_check_options on_host() {
  graphsan_check_options options{};
  options.struct_size = sizeof(options);
  options.device = "host";
  return options;
}

int check(const graphsan_plugin_table& table, const graphsan_check_options& options,
          Report& report) {
  graphsan_report* made = nullptr;
  const int result = graphsan_check(&table, &options, &made);
  report.reset(made);
  return result;
}

/// The report of the example's step with one of its bugs.
Report report_of(const char* bug) {
  graphsan_check_options options = on_host();
  options.step_options = bug;
  Report report;
  EXPECT_EQ(check(*graphsan_plugin(), options, report), GRAPHSAN_OK) << graphsan_last_error();
  return report;
}

std::string text_of(const Report& report, const char* format = "text") {
  const char* text = graphsan_report_text(report.get(), format);
  return text == nullptr ? "" : text;
}

TEST(CheckApi, AgreesOnASoundStep) {
  const Report report = report_of("");
  EXPECT_STREQ(graphsan_report_verdict(report.get()), "agreed");
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 0);
  EXPECT_THAT(text_of(report),
              AllOf(HasSubstr("12 rows compared"), HasSubstr("\nSUMMARY: graphsan: agreed")));
  EXPECT_STREQ(graphsan_last_error(), "");
}

TEST(CheckApi, NamesTheMechanismOfAFaultyStep) {
  const Report report = report_of("elide");
  EXPECT_STREQ(graphsan_report_verdict(report.get()), "diverged");
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 1);
  EXPECT_THAT(text_of(report), AllOf(HasSubstr("elided-write (confirmed)"),
                                     HasSubstr("paged_write.c: write"), HasSubstr("fix")));
}

TEST(CheckApi, WritesTheReportInEveryFormatAndSaysWhichThereAre) {
  const Report report = report_of("frozen");
  EXPECT_THAT(text_of(report, "json"), AllOf(StartsWith("{"), HasSubstr("\"frozen-scalar\"")));
  EXPECT_THAT(text_of(report, "html"), AllOf(StartsWith("<!"), HasSubstr("frozen-scalar")));
  EXPECT_EQ(graphsan_report_text(report.get(), "pdf"), nullptr);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("\"text\", \"json\" or \"html\", not \"pdf\""));
  EXPECT_EQ(graphsan_report_text(report.get(), nullptr), nullptr);
}

TEST(CheckApi, NamesNoCommandThatWouldRunTheStepAgain) {
  EXPECT_THAT(text_of(report_of("elide")), Not(HasSubstr("Run again")));
}

TEST(CheckApi, NeverAgreesOnAStepThatDoesNothing) {
  const Report report = report_of("idle");
  EXPECT_STREQ(graphsan_report_verdict(report.get()), "diverged");
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 1);
}

TEST(CheckApi, ReportsAStepThatFailsWithItsOwnWords) {
  const Report report = report_of("fail");
  EXPECT_STREQ(graphsan_report_verdict(report.get()), "inconclusive");
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 4);
  EXPECT_THAT(text_of(report),
              AllOf(HasSubstr("prepare() of step 1"), HasSubstr("lost sequence 2")));
}

TEST(CheckApi, ReportsAnExceptionThatLeavesAFunctionOfTheStep) {
  graphsan_plugin_table table = *graphsan_plugin();
  table.run = [](void*, const graphsan_call*) -> int { throw std::runtime_error{"no sequence"}; };
  Report report;
  ASSERT_EQ(check(table, on_host(), report), GRAPHSAN_OK) << graphsan_last_error();
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 4);
  EXPECT_THAT(text_of(report), HasSubstr("no sequence"));
}

TEST(CheckApi, ReportsADeclarationThatDescribesNoMemory) {
  graphsan_plugin_table table = *graphsan_plugin();
  table.describe = [](void*, graphsan_description* out) {
    static graphsan_cache cache{};
    cache.struct_size = sizeof(cache);
    cache.name = "key";
    cache.pages = -1;
    out->steps = 2;
    out->cache_count = 1;
    out->caches = &cache;
    return 0;
  };
  Report report;
  ASSERT_EQ(check(table, on_host(), report), GRAPHSAN_OK) << graphsan_last_error();
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 4);
  EXPECT_THAT(text_of(report), HasSubstr("`key` has -1 pages"));
}

TEST(CheckApi, SpeaksOfATableByItsName) {
  graphsan_plugin_table table = *graphsan_plugin();
  table.name = "my step";
  table.create = [](const graphsan_host*, const char*, void**) { return 3; };
  Report report;
  ASSERT_EQ(check(table, on_host(), report), GRAPHSAN_OK) << graphsan_last_error();
  EXPECT_THAT(text_of(report), HasSubstr("step my step: create() returned 3"));
}

TEST(CheckApi, RefusesATableOfAnotherAbi) {
  graphsan_plugin_table table = *graphsan_plugin();
  table.abi_version = GRAPHSAN_PLUGIN_ABI + 1;
  Report report;
  EXPECT_EQ(check(table, on_host(), report), GRAPHSAN_BAD_USAGE);
  EXPECT_EQ(report, nullptr);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("build it again"));
}

TEST(CheckApi, RefusesATableWithoutWhatEveryStepNeeds) {
  graphsan_plugin_table table = *graphsan_plugin();
  table.run = nullptr;
  Report report;
  EXPECT_EQ(check(table, on_host(), report), GRAPHSAN_BAD_USAGE);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("its table lacks run"));
}

TEST(CheckApi, RefusesOptionsThatSayNothingItKnows) {
  const auto refused = [](auto change) {
    graphsan_check_options options = on_host();
    change(options);
    Report report;
    EXPECT_EQ(check(*graphsan_plugin(), options, report), GRAPHSAN_BAD_USAGE);
    return std::string{graphsan_last_error()};
  };
  EXPECT_EQ(refused([](auto& o) { o.device = "gpu"; }),
            "device is \"gpu\"; it can be \"auto\", \"cuda\", \"host\"");
  EXPECT_THAT(refused([](auto& o) { o.capture_metadata = "live"; }), HasSubstr("\"dummy\""));
  EXPECT_THAT(refused([](auto& o) { o.capture_at = "never"; }), HasSubstr("\"start\", \"live\""));
  EXPECT_THAT(refused([](auto& o) { o.struct_size = 0; }), HasSubstr("sizeof(graphsan_check"));
  EXPECT_THAT(refused([](auto& o) { o.record = "/no/such/folder/run.graphsan"; }),
              HasSubstr("/no/such/folder"));
}

TEST(CheckApi, RefusesWhatANewerHeaderSetsAndIgnoresWhatItLeavesZero) {
  struct {
    graphsan_check_options known = on_host();
    std::int64_t unknown = 0;
  } newer;
  newer.known.struct_size = sizeof(newer);
  Report report;
  EXPECT_EQ(check(*graphsan_plugin(), newer.known, report), GRAPHSAN_OK) << graphsan_last_error();
  newer.unknown = 1;
  EXPECT_EQ(check(*graphsan_plugin(), newer.known, report), GRAPHSAN_BAD_USAGE);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("newer library"));
}

TEST(CheckApi, RefusesNullPointers) {
  graphsan_report* report = nullptr;
  EXPECT_EQ(graphsan_check(nullptr, nullptr, &report), GRAPHSAN_BAD_USAGE);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("step is null"));
  EXPECT_EQ(graphsan_check(graphsan_plugin(), nullptr, nullptr), GRAPHSAN_BAD_USAGE);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("report is null"));
  graphsan_report_free(nullptr);
}

TEST(CheckApi, CopiesTheTextsOfItsOptions) {
  auto bug = std::make_unique<std::string>("elide");
  auto device = std::make_unique<std::string>("host");
  graphsan_check_options options = on_host();
  options.step_options = bug->c_str();
  options.device = device->c_str();
  Report report;
  ASSERT_EQ(check(*graphsan_plugin(), options, report), GRAPHSAN_OK);
  bug.reset();
  device.reset();
  EXPECT_THAT(text_of(report), HasSubstr("elided-write"));
}

TEST(CheckApi, RefusesACheckInsideAStepsFunctionAndGoesOn) {
  static int inner = GRAPHSAN_OK;
  graphsan_plugin_table table = *graphsan_plugin();
  table.destroy = [](void* self) {
    graphsan_report* report = nullptr;
    inner = graphsan_check(graphsan_plugin(), nullptr, &report);
    graphsan_plugin()->destroy(self);
  };
  Report report;
  EXPECT_EQ(check(table, on_host(), report), GRAPHSAN_OK);
  EXPECT_EQ(inner, GRAPHSAN_BAD_USAGE);
  EXPECT_STREQ(graphsan_last_error(), "");
  EXPECT_STREQ(graphsan_report_verdict(report.get()), "agreed");
}

TEST(CheckApi, TakesTurnsWhenSeveralThreadsCheck) {
  Report first;
  Report second;
  std::thread one{[&] { first = report_of(""); }};
  std::thread two{[&] { second = report_of("elide"); }};
  one.join();
  two.join();
  EXPECT_STREQ(graphsan_report_verdict(first.get()), "agreed");
  EXPECT_STREQ(graphsan_report_verdict(second.get()), "diverged");
}

TEST(CheckApi, KeepsARecordingOfTheRun) {
  const graphsan::test::TempFolder folder;
  const std::string path = (folder.path() / "run.graphsan").string();
  graphsan_check_options options = on_host();
  options.record = path.c_str();
  Report report;
  ASSERT_EQ(check(*graphsan_plugin(), options, report), GRAPHSAN_OK) << graphsan_last_error();
  std::ifstream file{path, std::ios::binary};
  std::string head(15, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  EXPECT_EQ(head, "SQLite format 3");
}

TEST(CheckApi, HasAVersionAndSaysWhichDevicesCanBeUsed) {
  EXPECT_EQ(graphsan_api_version(), GRAPHSAN_API_VERSION);
  EXPECT_THAT(graphsan_version(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(graphsan_device_problem("host"), nullptr);
  EXPECT_EQ(graphsan_device_problem("auto"), nullptr);
  EXPECT_THAT(graphsan_device_problem("gpu"), HasSubstr("\"cuda\""));
}

TEST(CheckApi, SaysWhyThereIsNoGpuWhereOneIsAskedFor) {
  const char* problem = graphsan_device_problem("cuda");
  if (problem == nullptr) GTEST_SKIP() << "this machine has a GPU";
  const std::string why = problem;
  EXPECT_THAT(why, HasSubstr("; "));
  graphsan_check_options options = on_host();
  options.device = "cuda";
  Report report;
  EXPECT_EQ(check(*graphsan_plugin(), options, report), GRAPHSAN_NO_DEVICE);
  EXPECT_EQ(why, graphsan_last_error());
  options.device = "auto";
  EXPECT_EQ(check(*graphsan_plugin(), options, report), GRAPHSAN_OK);
}

}  // namespace
