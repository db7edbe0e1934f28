#include "step/plugin/capture_labels.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphsan::step::plugin {
namespace {

/// Graphs that grow by nodes of invented handles, and a stream that captures into one or none.
class CaptureLabelsTest : public ::testing::Test {
 protected:
  using Nodes = std::vector<device::NodeRef>;

  device::NodeRef add() {
    nodes_.push_back(device::NodeRef{&handles_[next_++]});
    return nodes_.back();
  }
  void begin(int graph) {
    graph_ = device::GraphRef{&graphs_[graph]};
    nodes_.clear();
  }
  /// The step ends its capture; gives what the graph holds.
  Nodes end() {
    graph_ = {};
    return std::exchange(nodes_, {});
  }
  [[nodiscard]] device::GraphRef graph() const { return graph_; }
  void label(const std::optional<std::string>& source) {
    labels_.label(stream_, graph_, nodes_, source);
  }
  /// The same on a stream that the capture forked.
  void label_forked(const std::optional<std::string>& source) {
    labels_.label(forked_, graph_, nodes_, source);
  }
  [[nodiscard]] std::string of(device::NodeRef node) const {
    const auto found = labels_.labels().find(node.raw);
    return found == labels_.labels().end() ? "" : found->second;
  }

  CaptureLabels labels_;
  int stream_handle_ = 0;
  int forked_handle_ = 0;
  device::StreamRef stream_{&stream_handle_};
  device::StreamRef forked_{&forked_handle_};

 private:
  char handles_[16] = {};
  char graphs_[2] = {};
  int next_ = 0;
  device::GraphRef graph_;
  Nodes nodes_;
};

TEST_F(CaptureLabelsTest, GivesNodesOfForkedStreamsToTheLabelThatCameLast) {
  begin(0);
  label("a.py:1");
  const auto first = add();
  label_forked("b.py:2");
  const auto second = add();
  label("a.py:3");
  const auto third = add();
  label_forked(std::nullopt);
  EXPECT_EQ(of(first), "a.py:1");
  EXPECT_EQ(of(second), "b.py:2");
  EXPECT_EQ(of(third), "a.py:3");
}

TEST_F(CaptureLabelsTest, GivesANodeTheLabelThatHeldWhenItWasMade) {
  begin(0);
  const auto before = add();
  label("a.py:1");
  const auto first = add();
  const auto second = add();
  label("a.py:2");
  const auto third = add();
  label(std::nullopt);
  const auto after = add();
  label("a.py:9");
  EXPECT_EQ(of(before), "");
  EXPECT_EQ(of(first), "a.py:1");
  EXPECT_EQ(of(second), "a.py:1");
  EXPECT_EQ(of(third), "a.py:2");
  EXPECT_EQ(of(after), "");
}

TEST_F(CaptureLabelsTest, KeepsALabelThatWasGivenBeforeTheCaptureBegan) {
  label("a.py:1");
  begin(0);
  const auto node = add();
  label(std::nullopt);
  EXPECT_EQ(of(node), "a.py:1");
}

TEST_F(CaptureLabelsTest, CarriesALabelOverIntoTheNextSegment) {
  begin(0);
  label("a.py:1");
  const auto first = add();
  label(labels_.source(stream_));
  static_cast<void>(end());
  begin(1);
  const auto second = add();
  label(std::nullopt);
  EXPECT_EQ(of(first), "a.py:1");
  EXPECT_EQ(of(second), "a.py:1");
}

TEST_F(CaptureLabelsTest, NamesTheLastNodesOfCapturesThatTheStepEndedItself) {
  begin(0);
  const device::GraphRef first_graph = graph();
  label("a.py:1");
  const auto first = add();
  const auto first_nodes = end();
  begin(1);
  const device::GraphRef second_graph = graph();
  label("a.py:2");
  const auto second = add();
  const auto second_nodes = end();
  labels_.end_labels();
  labels_.finish(first_graph, first_nodes);
  labels_.finish(second_graph, second_nodes);
  EXPECT_EQ(of(first), "a.py:1");
  EXPECT_EQ(of(second), "a.py:2");
}

TEST_F(CaptureLabelsTest, NamesNoNodeAfterALabelThatEnded) {
  begin(0);
  const device::GraphRef ended = graph();
  label("a.py:1");
  label(std::nullopt);
  const auto node = add();
  labels_.finish(ended, end());
  EXPECT_EQ(of(node), "");
}

TEST_F(CaptureLabelsTest, ForgetsEarlierCaptures) {
  begin(0);
  label("a.py:1");
  const auto node = add();
  label("a.py:2");
  labels_.clear();
  EXPECT_EQ(of(node), "");
  EXPECT_TRUE(labels_.streams().empty());
  EXPECT_EQ(labels_.source(stream_), std::nullopt);
}

}  // namespace
}  // namespace graphsan::step::plugin
