#include "trace/graph_walk.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "device/buffer.hpp"
#include "device/host/host_device.hpp"
#include "tests/support/test_kernels.hpp"
#include "trace/address_scan.hpp"
#include "trace/work_recorder.hpp"

namespace graphsan::trace {
namespace {

using device::LabelScope;

class GraphWalkTest : public ::testing::Test {
 protected:
  GraphWalkTest()
      : device_{device::make_host_device({.seed = 1, .memory_bytes = std::size_t{1} << 24})},
        stream_{device_->create_stream()},
        a_{*device_, 64},
        b_{*device_, 64} {
    device_->set_work_listener(&recorder_);
  }
  ~GraphWalkTest() override { device_->set_work_listener(nullptr); }

  void add(std::uint64_t value) {
    const test::AddWordsArgs args{a_.as<std::uint64_t>(), value, 8};
    device_->launch(stream_.get(), test::add_words_kernel(), {{2, 1, 1}, {32, 1, 1}, 0}, &args);
  }

  void begin() { device_->begin_capture(stream_.get(), device::CaptureMode::kThreadLocal); }
  device::Graph end() { return device_->end_capture(stream_.get()); }

  std::unique_ptr<device::Device> device_;
  device::Stream stream_;
  device::Buffer a_;
  device::Buffer b_;
  WorkRecorder recorder_;
};

TEST_F(GraphWalkTest, ReadsNodesWithLabelsFieldsAndOperands) {
  begin();
  {
    const LabelScope label{*device_, "layer 1 / insert"};
    add(7);
  }
  device_->copy(stream_.get(), b_.data(), a_.data(), 64);
  device_->fill(stream_.get(), a_.data(), 0x5A, 32);
  const device::Graph graph = end();
  const GraphWalk walk = walk_graph(*device_, graph.get(), recorder_.records());

  EXPECT_TRUE(walk.unread.empty());
  const std::vector<model::Work>& nodes = walk.segment.nodes;
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].id, 0);
  EXPECT_EQ(nodes[0].type, model::NodeType::kKernel);
  EXPECT_EQ(nodes[0].name, "add_words");
  EXPECT_EQ(nodes[0].source, "layer 1 / insert");
  EXPECT_EQ(nodes[0].grid, (model::Extent3{2, 1, 1}));
  EXPECT_EQ(nodes[0].block, (model::Extent3{32, 1, 1}));
  ASSERT_EQ(nodes[0].fields.size(), 3U);
  EXPECT_EQ(nodes[0].fields[0].name, "destination");
  EXPECT_TRUE(nodes[0].fields[0].is_pointer);
  test::AddWordsArgs args;
  ASSERT_EQ(nodes[0].arguments.at(0).bytes.size(), sizeof(args));
  std::memcpy(&args, nodes[0].arguments[0].bytes.data(), sizeof(args));
  EXPECT_EQ(args.value, 7U);

  EXPECT_EQ(nodes[1].type, model::NodeType::kMemcpy);
  EXPECT_EQ(nodes[1].name, "memcpy");
  EXPECT_EQ(nodes[1].source, "");
  ASSERT_TRUE(nodes[1].copy.has_value());
  EXPECT_EQ(nodes[1].copy->destination, reinterpret_cast<std::uint64_t>(b_.data()));
  EXPECT_EQ(nodes[1].copy->source, reinterpret_cast<std::uint64_t>(a_.data()));
  EXPECT_EQ(nodes[1].copy->bytes, 64U);
  ASSERT_TRUE(nodes[2].fill.has_value());
  EXPECT_EQ(nodes[2].fill->value, 0x5AU);
  EXPECT_EQ(nodes[2].fill->bytes, 32U);
  EXPECT_EQ(walk.segment.edges, (std::vector<model::GraphEdge>{{0, 1}, {1, 2}}));
}

TEST_F(GraphWalkTest, LabelsEqualLaunchesInTheirOrder) {
  begin();
  for (const char* name : {"layer 0", "layer 1"}) {
    const LabelScope label{*device_, name};
    add(1);
  }
  const device::Graph graph = end();
  const GraphWalk walk = walk_graph(*device_, graph.get(), recorder_.records());
  ASSERT_EQ(walk.segment.nodes.size(), 2U);
  EXPECT_EQ(walk.segment.nodes[0].source, "layer 0");
  EXPECT_EQ(walk.segment.nodes[1].source, "layer 1");
}

TEST_F(GraphWalkTest, PassesOverWorkThatWasNotCaptured) {
  {
    const LabelScope label{*device_, "warm-up"};
    add(1);
  }
  begin();
  {
    const LabelScope label{*device_, "captured"};
    add(1);
  }
  const device::Graph graph = end();
  const GraphWalk walk = walk_graph(*device_, graph.get(), recorder_.records());
  EXPECT_EQ(walk.segment.nodes.at(0).source, "captured");
}

TEST_F(GraphWalkTest, DoesWithoutRecords) {
  begin();
  add(1);
  const device::Graph graph = end();
  const GraphWalk walk = walk_graph(*device_, graph.get(), {});
  ASSERT_EQ(walk.segment.nodes.size(), 1U);
  EXPECT_NE(walk.segment.nodes[0].name.find("add_words"), std::string::npos);
  EXPECT_EQ(walk.segment.nodes[0].source, "");
  EXPECT_TRUE(walk.segment.nodes[0].fields.empty());
}

TEST_F(GraphWalkTest, TakesSourcesOfNodesThatNobodyRecordedFromTheirHandles) {
  begin();
  {
    const LabelScope label{*device_, "recorded"};
    add(1);
  }
  add(2);
  add(3);
  const device::Graph graph = end();
  GraphWalk walk = walk_graph(*device_, graph.get(), recorder_.records());
  ASSERT_EQ(walk.refs.size(), 3U);
  name_sources(walk, {{walk.refs[0].raw, "by handle"}, {walk.refs[1].raw, "by handle"}});
  EXPECT_EQ(walk.segment.nodes[0].source, "recorded");
  EXPECT_EQ(walk.segment.nodes[1].source, "by handle");
  EXPECT_EQ(walk.segment.nodes[2].source, "");
}

TEST_F(GraphWalkTest, TellsAListenerWhichLabelHolds) {
  struct Heard : device::LabelListener {
    void on_label(const std::string& label) override { labels.push_back(label); }
    std::vector<std::string> labels;
  } heard;
  const LabelScope outer{*device_, "outer"};
  device_->set_label_listener(&heard);
  { const LabelScope inner{*device_, "inner"}; }
  device_->set_label_listener(nullptr);
  const LabelScope unheard{*device_, "unheard"};
  EXPECT_EQ(heard.labels, (std::vector<std::string>{"outer", "inner", "outer"}));
}

TEST_F(GraphWalkTest, GivesEachRecordToOneSegmentOnly) {
  std::vector<device::Graph> graphs;
  for (const char* name : {"segment 0", "segment 1"}) {
    begin();
    const LabelScope label{*device_, name};
    add(1);
    graphs.push_back(end());
  }
  const std::vector refs{graphs[0].get(), device::GraphRef{}, graphs[1].get()};
  const auto walks = walk_segments(*device_, refs, recorder_.records());
  ASSERT_EQ(walks.size(), 3U);
  EXPECT_EQ(walks[0].segment.nodes.at(0).source, "segment 0");
  EXPECT_TRUE(walks[1].segment.nodes.empty());
  EXPECT_EQ(walks[2].segment.nodes.at(0).source, "segment 1");
  EXPECT_EQ(walks[2].segment.segment, 2);
}

TEST_F(GraphWalkTest, LeadsToTheOwnersOfAddresses) {
  begin();
  add(1);
  const device::Graph graph = end();
  GraphWalk walk = walk_graph(*device_, graph.get(), recorder_.records());
  device::AddressMap map;
  const auto begin_address = reinterpret_cast<std::uint64_t>(a_.data());
  map.add({begin_address, begin_address + 64, device::Owner::kNamedBuffer, "a", 0, UINT64_MAX});
  resolve_addresses(walk.segment, map, 0);
  ASSERT_EQ(walk.segment.nodes[0].addresses.size(), 1U);
  EXPECT_EQ(walk.segment.nodes[0].addresses[0].field, "destination");
  EXPECT_EQ(walk.segment.nodes[0].addresses[0].owner_name, "a");
}

TEST_F(GraphWalkTest, TellsEagerFromCapturedWork) {
  add(1);
  begin();
  add(2);
  const device::Graph graph = end();
  const LabelScope label{*device_, "break"};
  add(3);
  ASSERT_EQ(recorder_.records().size(), 3U);
  const auto eager = eager_work(recorder_.records());
  ASSERT_EQ(eager.size(), 2U);
  EXPECT_EQ(eager[1].id, 1);
  EXPECT_EQ(eager[1].name, "add_words");
  EXPECT_EQ(eager[1].source, "break");
  EXPECT_EQ(eager[1].grid, (model::Extent3{2, 1, 1}));
  ASSERT_EQ(eager[1].arguments.size(), 1U);
  EXPECT_EQ(eager[1].arguments[0].offset, 0U);
  EXPECT_EQ(captured_records(recorder_.records()).size(), 1U);
}

TEST_F(GraphWalkTest, LeavesTheRecorderEmptyAfterTake) {
  add(1);
  EXPECT_EQ(recorder_.take().size(), 1U);
  EXPECT_TRUE(recorder_.records().empty());
  add(1);
  recorder_.clear();
  EXPECT_TRUE(recorder_.records().empty());
}

}  // namespace
}  // namespace graphsan::trace
