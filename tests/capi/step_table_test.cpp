// Tables that break the C ABI's rules: each ends in a report or a refusal that says which rule.
#include <gmock/gmock.h>
#include <graphsan/check.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace {

using ::testing::HasSubstr;

struct FreeReport {
  void operator()(graphsan_report* report) const { graphsan_report_free(report); }
};
using Report = std::unique_ptr<graphsan_report, FreeReport>;

int check(const graphsan_plugin_table& table, Report& report) {
  graphsan_check_options options{};
  options.struct_size = sizeof(options);
  options.device = "host";
  graphsan_report* made = nullptr;
  const int result = graphsan_check(&table, &options, &made);
  report.reset(made);
  return result;
}

/// The text of the report on a step that fails.
std::string failure_of(const graphsan_plugin_table& table) {
  Report report;
  EXPECT_EQ(check(table, report), GRAPHSAN_OK) << graphsan_last_error();
  if (report == nullptr) return {};
  EXPECT_EQ(graphsan_report_exit_code(report.get()), 4);
  return graphsan_report_text(report.get(), "text");
}

TEST(StepTable, IsDestroyedOnceWhereCreateMadeAStepAndItsHostRefusedACall) {
  static int destroyed = 0;
  destroyed = 0;
  graphsan_plugin_table table = *graphsan_plugin();
  table.create = [](const graphsan_host* host, const char* options, void** self) {
    const int status = graphsan_plugin()->create(host, options, self);
    host->copy(host, nullptr, nullptr, nullptr, 8);
    return status;
  };
  table.destroy = [](void* self) {
    ++destroyed;
    graphsan_plugin()->destroy(self);
  };
  EXPECT_THAT(failure_of(table), HasSubstr("create()"));
  EXPECT_EQ(destroyed, 1);
}

TEST(StepTable, IsNotDestroyedWhereCreateFailed) {
  static int destroyed = 0;
  destroyed = 0;
  graphsan_plugin_table table = *graphsan_plugin();
  table.create = [](const graphsan_host*, const char*, void** self) {
    *self = &destroyed;  // freed by create() itself, as the ABI asks
    return 3;
  };
  table.destroy = [](void*) { ++destroyed; };
  EXPECT_THAT(failure_of(table), HasSubstr("create() returned 3"));
  EXPECT_EQ(destroyed, 0);
}

TEST(StepTable, MayLeaveZeroWhatANewerHeaderKnowsAndSetNoneOfIt) {
  struct {
    graphsan_plugin_table known = *graphsan_plugin();
    void* unknown = nullptr;
  } newer;
  newer.known.struct_size = sizeof(newer);
  Report report;
  EXPECT_EQ(check(newer.known, report), GRAPHSAN_OK) << graphsan_last_error();
  newer.unknown = &newer;
  EXPECT_EQ(check(newer.known, report), GRAPHSAN_BAD_USAGE);
  EXPECT_THAT(graphsan_last_error(), HasSubstr("newer"));
}

TEST(StepTable, MayDeclareNothingThatANewerHeaderKnows) {
  static std::int64_t unknown = 0;
  graphsan_plugin_table table = *graphsan_plugin();
  table.describe = [](void* self, graphsan_description* out) {
    static struct {
      graphsan_cache known{};
      std::int64_t unknown = 0;
    } newer;
    const int status = graphsan_plugin()->describe(self, out);
    newer.known = out->caches[0];
    newer.known.struct_size = sizeof(newer);
    newer.unknown = unknown;
    out->caches = &newer.known;
    return status;
  };
  unknown = 0;
  Report report;
  ASSERT_EQ(check(table, report), GRAPHSAN_OK) << graphsan_last_error();
  EXPECT_STREQ(graphsan_report_verdict(report.get()), "agreed");
  unknown = 1;
  EXPECT_THAT(failure_of(table), HasSubstr("newer"));
}

TEST(StepTable, MayNotDeclareRowsThatOverlap) {
  graphsan_plugin_table table = *graphsan_plugin();
  table.describe = [](void* self, graphsan_description* out) {
    static graphsan_cache cache{};
    const int status = graphsan_plugin()->describe(self, out);
    cache = out->caches[0];
    cache.heads = 2;
    cache.dim /= 2;
    cache.head_stride = cache.dim * static_cast<std::int64_t>(sizeof(float));
    cache.slot_stride = cache.head_stride;  // slot 1's first head is slot 0's second
    out->caches = &cache;
    return status;
  };
  EXPECT_THAT(failure_of(table), HasSubstr("overlap"));
}

TEST(StepTable, IsReportedWhereAHostKernelThrowsNoException) {
  graphsan_plugin_table table = *graphsan_plugin();
  static const graphsan_host* host = nullptr;
  table.create = [](const graphsan_host* given, const char* options, void** self) {
    host = given;
    return graphsan_plugin()->create(given, options, self);
  };
  table.run = [](void*, const graphsan_call* call) {
    static graphsan_host_kernel kernel{};
    kernel.struct_size = sizeof(kernel);
    kernel.name = "throws_a_number";
    kernel.run = [](const void*) { throw 3; };
    return host->launch(host, call->stream, &kernel, nullptr);
  };
  EXPECT_THAT(failure_of(table), HasSubstr("throws_a_number"));
}

}  // namespace
