#include "trace/activity_work.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "trace/activity_source.hpp"
#include "trace/alignment.hpp"
#include "trace/cupti_activity.hpp"

namespace graphsan::trace {
namespace {

Activity kernel(std::string name, std::uint32_t correlation, std::uint64_t node) {
  Activity activity;
  activity.name = std::move(name);
  activity.correlation = correlation;
  activity.graph_node = node;
  activity.graph = node == 0 ? 0 : 1;
  activity.start_ns = 100;
  activity.end_ns = 130;
  return activity;
}

/// Hands out a fixed list, or fails as a source that lost records does.
class ListedActivity final : public ActivitySource {
 public:
  explicit ListedActivity(std::vector<Activity> activities) : activities_{std::move(activities)} {}
  void start() override { started_ = true; }
  std::vector<Activity> stop() override {
    if (!std::exchange(started_, false)) throw TraceError{"not started"};
    return activities_;
  }
  std::optional<std::uint64_t> node_id(device::NodeRef) override { return std::nullopt; }

 private:
  std::vector<Activity> activities_;
  bool started_ = false;
};

TEST(LaunchedWork, OrdersLaunchesByTheirIssueAndLeavesReplaysOut) {
  ListedActivity source{{kernel("late", 9, 0), kernel("in_graph", 5, 77), kernel("early", 2, 0)}};
  source.start();
  const auto work = launched_work(source.stop());
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].name, "early");
  EXPECT_EQ(work[0].id, 0);
  EXPECT_EQ(work[1].name, "late");
  EXPECT_EQ(work[1].id, 1);
}

TEST(LaunchedWork, TakesItsSourceFromTheLabel) {
  Activity labelled = kernel("add", 1, 0);
  labelled.label = "model.py:42";
  Activity copy;
  copy.kind = ActivityKind::kCopy;
  copy.correlation = 2;
  copy.label = "model.py:43";
  const std::vector<Activity> activities{labelled, copy, kernel("other", 3, 0)};
  const auto work = launched_work(activities);
  ASSERT_EQ(work.size(), 3U);
  EXPECT_EQ(work[0].source, "model.py:42");
  EXPECT_EQ(work[1].source, "model.py:43");
  EXPECT_EQ(work[2].source, "");
}

TEST(LaunchedWork, GivesCopiesAndFillsTheirWords) {
  Activity copy;
  copy.kind = ActivityKind::kCopy;
  Activity fill;
  fill.kind = ActivityKind::kFill;
  fill.correlation = 1;
  const auto work = launched_work(std::vector{copy, fill});
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].type, model::NodeType::kMemcpy);
  EXPECT_EQ(work[0].name, "memcpy");
  EXPECT_EQ(work[1].type, model::NodeType::kMemset);
  EXPECT_EQ(work[1].name, "memset");
}

TEST(LaunchedWork, AlignsWithNodesThatNoDeviceOfOursCaptured) {
  ListedActivity source{{kernel("norm", 1, 0), kernel("insert", 2, 0)}};
  source.start();
  model::GraphSegment segment;
  segment.nodes.resize(1);
  segment.nodes[0].name = "norm";
  const auto lines = align(launched_work(source.stop()), std::vector{segment}, {});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].kind, model::AlignmentKind::kMatched);
  EXPECT_EQ(lines[1].kind, model::AlignmentKind::kMissing);
}

TEST(NodeRuns, AddsUpTheRunsOfEachNode) {
  const std::vector activities{kernel("a", 1, 10), kernel("b", 1, 11), kernel("a", 2, 10),
                               kernel("eager", 3, 0)};
  const auto runs = node_runs(activities, std::vector<std::uint64_t>{11, 10, 12});
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].runs, 1U);
  EXPECT_EQ(runs[0].nanoseconds, 30U);
  EXPECT_EQ(runs[1].runs, 2U);
  EXPECT_EQ(runs[1].nanoseconds, 60U);
  EXPECT_EQ(runs[2].runs, 0U);
}

TEST(NodeRuns, MatchesByNumberSinceAnExecRunsItsOwnCopyOfTheGraph) {
  Activity first;
  first.graph_node = (std::uint64_t{55} << 32) + 1;
  first.start_ns = 10;
  first.end_ns = 30;
  const auto runs = node_runs(
      std::vector<Activity>{first, first},
      std::vector<std::uint64_t>{(std::uint64_t{54} << 32) + 1, (std::uint64_t{54} << 32) + 2});
  EXPECT_EQ(runs[0].runs, 2U);
  EXPECT_EQ(runs[0].nanoseconds, 40U);
  EXPECT_EQ(runs[1].runs, 0U);
}

TEST(NodeRuns, RefusesActivitiesOfSeveralGraphs) {
  Activity one;
  one.graph_node = (std::uint64_t{55} << 32) + 1;
  Activity other;
  other.graph_node = (std::uint64_t{56} << 32) + 1;
  EXPECT_THROW(static_cast<void>(
                   node_runs(std::vector<Activity>{one, other}, std::vector<std::uint64_t>{1})),
               TraceError);
}

TEST(CuptiCandidates, TriesTheLoaderFirstThenTheNamedToolkits) {
  const auto environment = [](const char* name) -> const char* {
    return std::string{name} == "CUDA_HOME" ? "/opt/cuda" : nullptr;
  };
  const auto candidates = cupti_candidates(environment);
  ASSERT_GE(candidates.size(), 3U);
  EXPECT_EQ(candidates[0], "libcupti.so.13");
  EXPECT_EQ(candidates[1], "libcupti.so");
  EXPECT_EQ(candidates[2], "/opt/cuda/lib64/libcupti.so.13");
  EXPECT_EQ(candidates.back(), "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so");
}

TEST(CuptiCandidates, PassesOverEmptyVariables) {
  const auto empty = [](const char*) -> const char* { return ""; };
  const auto unset = [](const char*) -> const char* { return nullptr; };
  EXPECT_EQ(cupti_candidates(empty), cupti_candidates(unset));
}

TEST(CuptiAvailability, SaysWhyAndWhatToDoWhereThereIsNone) {
  const TraceAvailability availability = cupti_availability();
  if (availability.available) GTEST_SKIP() << "CUPTI can be used here";
  EXPECT_NE(availability.reason, "");
  EXPECT_NE(availability.remedy, "");
  EXPECT_THROW(static_cast<void>(make_cupti_activity_source()), TraceError);
}

}  // namespace
}  // namespace graphsan::trace
