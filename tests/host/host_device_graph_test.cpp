// The order of replays, and the host device's own refusals.
#include <set>

#include "tests/support/host_device_test.hpp"

namespace graphsan::test {
namespace {

using device::ErrorKind;

class HostGraphs : public DeviceContract {
 protected:
  static constexpr std::size_t kLastOfLongBranch = 15;
  static constexpr std::size_t kShortBranch = 16;

  /// Two branches with no edge between them, of sixteen nodes and of one, that write one word.
  [[nodiscard]] device::Graph capture_race(const device::Buffer& buffer) {
    return capture([&] {
      order(stream(), other());
      for (std::size_t node = 0; node < kLastOfLongBranch; ++node) add(stream(), buffer, 0);
      store(stream(), buffer.data(), 1);
      store(other(), buffer.data(), 2);
      order(other(), stream());
    });
  }

  [[nodiscard]] Words outcomes(const device::GraphExec& exec, const device::Buffer& buffer) {
    Words seen;
    for (int launch = 0; launch < 32; ++launch) {
      replay(exec);
      seen.push_back(download(buffer).front());
    }
    return seen;
  }
};

TEST_P(HostGraphs, RunsEachOfTwoUnorderedBranchesLastInManyReplays) {
  const device::Buffer buffer = upload({0});
  const device::GraphExec exec = device().instantiate(capture_race(buffer).get());
  const Words seen = outcomes(exec, buffer);
  EXPECT_GE(std::count(seen.begin(), seen.end(), 1U), 8);
  EXPECT_GE(std::count(seen.begin(), seen.end(), 2U), 8);
}

TEST_P(HostGraphs, RepeatsTheOrdersOfAnExecInAnotherExecOfTheSameGraph) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture_race(buffer);
  const device::GraphExec first = device().instantiate(graph.get());
  const device::GraphExec second = device().instantiate(graph.get());
  EXPECT_EQ(outcomes(first, buffer), outcomes(second, buffer));
}

TEST_P(HostGraphs, IsStableOnceEdgesOrderTheBranches) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture_race(buffer);
  const auto nodes = device().nodes(graph.get());
  const device::EdgeInfo last_wins{nodes.at(kLastOfLongBranch).node, nodes.at(kShortBranch).node};
  device().add_edges(graph.get(), std::span{&last_wins, 1});
  const device::GraphExec exec = device().instantiate(graph.get());
  EXPECT_EQ(outcomes(exec, buffer), Words(32, 2));
}

TEST_P(HostGraphs, LeavesAnExecAsItWasWhenItsGraphGetsEdges) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture_race(buffer);
  const device::GraphExec exec = device().instantiate(graph.get());
  const auto nodes = device().nodes(graph.get());
  const device::EdgeInfo added{nodes.at(kLastOfLongBranch).node, nodes.at(kShortBranch).node};
  device().add_edges(graph.get(), std::span{&added, 1});
  const Words seen = outcomes(exec, buffer);
  EXPECT_NE(std::set<std::uint64_t>(seen.begin(), seen.end()).size(), 1U);
}

TEST_P(HostGraphs, RefusesEdgesThatMakeACycleAndAddsNone) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture_race(buffer);
  const auto nodes = device().nodes(graph.get());
  const auto before = device().edges(graph.get()).size();
  const std::vector<device::EdgeInfo> edges{{nodes.at(0).node, nodes.at(3).node},
                                            {nodes.at(3).node, nodes.at(0).node}};
  EXPECT_EQ(error_of([&] { device().add_edges(graph.get(), edges); }), ErrorKind::kInvalidArgument);
  const device::EdgeInfo loop{nodes.at(1).node, nodes.at(1).node};
  EXPECT_EQ(error_of([&] {
              device().add_edges(graph.get(), std::span{&loop, 1});
            }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(device().edges(graph.get()).size(), before);
}

TEST_P(HostGraphs, RefusesEdgesToANodeOfAnotherGraph) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture_race(buffer);
  const device::Graph clone = device().clone(graph.get());
  const device::EdgeInfo edge{device().nodes(graph.get()).at(0).node,
                              device().nodes(clone.get()).at(1).node};
  EXPECT_EQ(error_of([&] {
              device().add_edges(graph.get(), std::span{&edge, 1});
            }),
            ErrorKind::kInvalidArgument);
}

TEST_P(HostGraphs, RefusesPatchesOfAnotherGraphsNodeAsInvalidArguments) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture_race(buffer);
  const device::Graph clone = device().clone(graph.get());
  const device::GraphExec exec = device().instantiate(graph.get());
  const device::NodeInfo foreign = device().nodes(clone.get()).at(0);
  EXPECT_EQ(error_of([&] { device().set_enabled(exec.get(), foreign.node, false); }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(error_of([&] { device().set_kernel(exec.get(), foreign.node, foreign.kernel); }),
            ErrorKind::kInvalidArgument);
}

TEST_P(HostGraphs, RefusesPatchesOfANodeOfAnotherKind) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    device().fill(stream(), buffer.data(), 1, 8);
  });
  const device::GraphExec exec = device().instantiate(graph.get());
  const auto nodes = device().nodes(graph.get());
  EXPECT_EQ(error_of([&] {
              device().set_fill(exec.get(), nodes.at(0).node, {buffer.data(), 8, 2});
            }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(error_of([&] {
              device().set_copy(exec.get(), nodes.at(1).node, {buffer.data(), buffer.data(), 8});
            }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(
      error_of([&] { device().set_kernel(exec.get(), nodes.at(1).node, nodes.at(0).kernel); }),
      ErrorKind::kInvalidArgument);
}

TEST_P(HostGraphs, RefusesToMoveACopyOperandBetweenHostAndDevice) {
  const device::Buffer buffer = upload({0});
  const Words source{1};
  const device::Graph graph =
      capture([&] { device().copy(stream(), buffer.data(), source.data(), 8); });
  const device::GraphExec exec = device().instantiate(graph.get());
  const device::NodeRef node = device().nodes(graph.get()).at(0).node;
  EXPECT_EQ(error_of([&] {
              device().set_copy(exec.get(), node, {buffer.data(), buffer.data(), 8});
            }),
            ErrorKind::kInvalidArgument);
}

TEST_P(HostGraphs, PatchesTheGridOfAKernel) {
  const device::Buffer buffer = upload({0});
  device::Kernel counting = store_word_kernel();
  counting.host_function = [](const device::LaunchDims& dims, const void* args) {
    *static_cast<const StoreWordArgs*>(args)->destination = dims.grid.x;
  };
  const StoreWordArgs args{buffer.as<std::uint64_t>(), 0};
  const device::Graph graph = capture([&] {
    device().launch(stream(), counting, device::LaunchDims{{3, 1, 1}, {}, 0}, &args);
  });
  const device::GraphExec exec = device().instantiate(graph.get());
  device::NodeInfo node = device().nodes(graph.get()).at(0);
  node.kernel.dims.grid.x = 9;
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(buffer), Words{9});
}

TEST_P(HostGraphs, ExecutesQueuedLaunchesOfAnExecThatIsGone) {
  const device::Buffer buffer = upload({0});
  {
    const device::Graph graph = capture([&] { add(stream(), buffer, 1); });
    const device::GraphExec exec = device().instantiate(graph.get());
    device().launch(exec.get(), stream());
  }
  EXPECT_EQ(download(buffer), Words{1});
}

INSTANTIATE_TEST_SUITE_P(Host, HostGraphs, ::testing::Values(host_device_under_test()),
                         [](const auto& tested) { return tested.param.name; });

/// Outcomes of 32 replays of a race between two stores on a device with `seed`.
std::vector<std::uint64_t> race_outcomes(std::uint64_t seed) {
  const auto device = device::make_host_device({.seed = seed, .memory_bytes = 1 << 20});
  const device::Stream main = device->create_stream();
  const device::Stream side = device->create_stream();
  const device::Event fork = device->create_event();
  const device::Event join = device->create_event();
  const device::Buffer word{*device, 8, device::MemoryKind::kPinnedHost};
  const StoreWordArgs first{word.as<std::uint64_t>(), 1};
  const StoreWordArgs second{word.as<std::uint64_t>(), 2};

  device->begin_capture(main.get(), device::CaptureMode::kThreadLocal);
  device->record(fork.get(), main.get());
  device->wait(side.get(), fork.get());
  device->launch(main.get(), store_word_kernel(), {}, &first);
  device->launch(side.get(), store_word_kernel(), {}, &second);
  device->record(join.get(), side.get());
  device->wait(main.get(), join.get());
  const device::GraphExec exec = device->instantiate(device->end_capture(main.get()).get());

  std::vector<std::uint64_t> seen;
  for (int launch = 0; launch < 32; ++launch) {
    device->launch(exec.get(), main.get());
    device->synchronize(main.get());
    seen.push_back(*word.as<std::uint64_t>());
  }
  return seen;
}

TEST(HostDeviceSeed, GivesTheSameOrdersForTheSameSeed) {
  EXPECT_EQ(race_outcomes(7), race_outcomes(7));
}

TEST(HostDeviceSeed, GivesOtherOrdersForAnotherSeed) {
  EXPECT_NE(race_outcomes(7), race_outcomes(8));
}

}  // namespace
}  // namespace graphsan::test
