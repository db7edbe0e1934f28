#include <algorithm>
#include <memory>
#include <string>

#include "tests/gpu/cuda_device_test.hpp"
#include "trace/activity_work.hpp"
#include "trace/cupti_activity.hpp"

namespace graphsan::test {
namespace {

using trace::Activity;
using trace::TraceError;

class CuptiTest : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (!has_device()) return;
    const trace::TraceAvailability availability = trace::cupti_availability();
    if (!availability.available) GTEST_SKIP() << availability.reason;
    source_ = trace::make_cupti_activity_source();
  }

  [[nodiscard]] trace::ActivitySource& source() { return *source_; }
  void close_source() { source_.reset(); }

 private:
  std::unique_ptr<trace::ActivitySource> source_;
};

TEST_F(CuptiTest, SeesEagerLaunchesCopiesAndFillsInTheOrderOfTheirIssue) {
  const device::Buffer a = upload({1, 2});
  const device::Buffer b = upload({0, 0});
  source().start();
  const AddWordsArgs args{a.as<std::uint64_t>(), 3, 2};
  device().launch(stream(), add_words_kernel(), {{5, 1, 1}, {64, 1, 1}, 0}, &args);
  device().copy(stream(), b.data(), a.data(), 16);
  device().fill(stream(), a.data(), 0x5A, 8);
  device().synchronize(stream());
  const std::vector<Activity> activities = source().stop();

  const auto work = trace::launched_work(activities);
  ASSERT_EQ(work.size(), 3U);
  EXPECT_EQ(work[0].type, model::NodeType::kKernel);
  EXPECT_NE(work[0].name.find("add_words"), std::string::npos) << work[0].name;
  EXPECT_EQ(work[0].grid, (model::Extent3{5, 1, 1}));
  EXPECT_EQ(work[0].block, (model::Extent3{64, 1, 1}));
  EXPECT_EQ(work[1].type, model::NodeType::kMemcpy);
  EXPECT_EQ(work[2].type, model::NodeType::kMemset);
  const auto fill = std::ranges::find(activities, trace::ActivityKind::kFill, &Activity::kind);
  ASSERT_NE(fill, activities.end());
  EXPECT_EQ(fill->bytes, 8U);
  for (const Activity& activity : activities) EXPECT_LE(activity.start_ns, activity.end_ns);
}

TEST_F(CuptiTest, GivesEachLaunchTheLabelThatHeld) {
  const device::Buffer a = upload({1, 2});
  const auto labelled = [&](const char* label) {
    const device::LabelScope scope{device(), label};
    add(stream(), a, 1);
  };
  device().set_label_listener(&source());
  source().start();
  add(stream(), a, 1);
  labelled("model.py:1");
  labelled("model.py:2");
  add(stream(), a, 1);
  device().synchronize(stream());
  const auto work = trace::launched_work(source().stop());
  device().set_label_listener(nullptr);
  ASSERT_EQ(work.size(), 4U);
  EXPECT_EQ(work[0].source, "");
  EXPECT_EQ(work[1].source, "model.py:1");
  EXPECT_EQ(work[2].source, "model.py:2");
  EXPECT_EQ(work[3].source, "");
}

TEST_F(CuptiTest, NamesTheNodeThatEachReplayedKernelBelongsTo) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    add(stream(), buffer, 2);
  });
  std::vector<std::uint64_t> ids;
  for (const device::NodeInfo& node : device().nodes(graph.get())) {
    const auto id = source().node_id(node.node);
    ASSERT_TRUE(id.has_value());
    ids.push_back(*id);
  }
  source().start();
  const device::GraphExec exec = device().instantiate(graph.get());
  replay(exec);
  replay(exec);
  const std::vector<Activity> activities = source().stop();
  EXPECT_TRUE(trace::launched_work(activities).empty());
  std::string seen;
  for (const Activity& activity : activities) {
    seen += " node " + std::to_string(activity.graph_node) + " of graph " +
            std::to_string(activity.graph);
  }
  for (const trace::NodeRuns& runs : trace::node_runs(activities, ids)) {
    EXPECT_EQ(runs.runs, 2U) << "nodes " << ids[0] << ", " << ids[1] << "; seen:" << seen;
    EXPECT_GT(runs.nanoseconds, 0U);
  }
}

TEST_F(CuptiTest, SeesNothingOutsideStartAndStop) {
  const device::Buffer buffer = upload({0});
  source().start();
  add(stream(), buffer, 1);
  device().synchronize(stream());
  EXPECT_EQ(trace::launched_work(source().stop()).size(), 1U);
  add(stream(), buffer, 1);
  device().synchronize(stream());
  source().start();
  EXPECT_TRUE(source().stop().empty());
}

TEST_F(CuptiTest, RefusesASecondTraceUntilTheFirstIsGone) {
  EXPECT_THROW(static_cast<void>(trace::make_cupti_activity_source()), TraceError);
  close_source();
  EXPECT_NE(trace::make_cupti_activity_source(), nullptr);
}

TEST_F(CuptiTest, RefusesToStartTwiceAndToStopUnstarted) {
  EXPECT_THROW(static_cast<void>(source().stop()), TraceError);
  source().start();
  EXPECT_THROW(source().start(), TraceError);
  static_cast<void>(source().stop());
}

}  // namespace
}  // namespace graphsan::test
