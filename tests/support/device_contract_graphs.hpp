#pragma once

#include "tests/support/device_contract.hpp"

namespace graphsan::test {

TEST_P(DeviceContract, DescribesNodesWithTheirOperandsInCreationOrder) {
  const device::Buffer a = upload({0});
  const device::Buffer b = upload({0});
  const device::LaunchDims dims{{3, 2, 1}, {32, 1, 1}, 0};
  const AddWordsArgs args{a.as<std::uint64_t>(), 11, 0};
  const device::Graph graph = capture([&] {
    device().launch(stream(), add_words_kernel(), dims, &args);
    device().copy(stream(), b.data(), a.data(), 8);
    device().fill(stream(), a.data(), 0x5A, 8);
  });
  const auto nodes = device().nodes(graph.get());
  ASSERT_EQ(nodes.size(), 3U);

  EXPECT_EQ(nodes[0].kind, device::NodeKind::kKernel);
  EXPECT_NE(nodes[0].name.find("add_words"), std::string::npos) << nodes[0].name;
  EXPECT_EQ(nodes[0].kernel.dims.grid, dims.grid);
  EXPECT_EQ(nodes[0].kernel.dims.block, dims.block);
  ASSERT_EQ(nodes[0].kernel.arguments.size(), 1U);
  EXPECT_EQ(nodes[0].kernel.arguments[0].offset, 0U);
  ASSERT_EQ(nodes[0].kernel.arguments[0].bytes.size(), sizeof(args));
  EXPECT_EQ(std::memcmp(nodes[0].kernel.arguments[0].bytes.data(), &args, sizeof(args)), 0);

  EXPECT_EQ(nodes[1].kind, device::NodeKind::kCopy);
  ASSERT_TRUE(nodes[1].copy.has_value());
  EXPECT_EQ(nodes[1].copy->destination, b.data());
  EXPECT_EQ(nodes[1].copy->source, a.data());
  EXPECT_EQ(nodes[1].copy->bytes, 8U);

  EXPECT_EQ(nodes[2].kind, device::NodeKind::kFill);
  ASSERT_TRUE(nodes[2].fill.has_value());
  EXPECT_EQ(nodes[2].fill->destination, a.data());
  EXPECT_EQ(nodes[2].fill->value, 0x5A);
  EXPECT_EQ(nodes[2].fill->bytes, 8U);
}

TEST_P(DeviceContract, CapturesNoNodesForZeroBytes) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    device().fill(stream(), buffer.data(), 1, 0);
    device().copy(stream(), buffer.data(), buffer.data(), 0);
  });
  EXPECT_TRUE(device().nodes(graph.get()).empty());
}

TEST_P(DeviceContract, CapturesNoNodesWhenNothingIsIssued) {
  const device::Graph graph = capture([] {});
  EXPECT_TRUE(device().nodes(graph.get()).empty());
  replay(device().instantiate(graph.get()));
}

TEST_P(DeviceContract, LaunchesAGraphInTheOrderOfItsStream) {
  const device::Buffer buffer = upload({0});
  const device::Buffer between = upload({0});
  const device::Graph graph = capture([&] { add(stream(), buffer, 1); });
  const device::GraphExec exec = device().instantiate(graph.get());
  store(stream(), buffer.data(), 10);
  device().launch(exec.get(), stream());
  copy_words(stream(), between, buffer.data());
  store(stream(), buffer.data(), 20);
  device().launch(exec.get(), stream());
  EXPECT_EQ(download(between), Words{11});
  EXPECT_EQ(download(buffer), Words{21});
}

TEST_P(DeviceContract, ReplaysAnExecWhoseGraphIsGone) {
  const device::Buffer buffer = upload({0});
  device::GraphExec exec;
  {
    const device::Graph graph = capture([&] { add(stream(), buffer, 1); });
    exec = device().instantiate(graph.get());
  }
  replay(exec);
  EXPECT_EQ(download(buffer), Words{1});
}

TEST_P(DeviceContract, FindsTheCounterpartOfANodeInAClone) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    device().fill(stream(), buffer.data(), 3, 8);
  });
  const device::Graph clone = device().clone(graph.get());
  const auto originals = device().nodes(graph.get());
  const auto clones = device().nodes(clone.get());
  ASSERT_EQ(clones.size(), originals.size());
  EXPECT_EQ(device().edges(clone.get()).size(), device().edges(graph.get()).size());
  for (std::size_t i = 0; i < clones.size(); ++i) {
    EXPECT_EQ(device().find_in_clone(originals[i].node, clone.get()), clones[i].node);
    EXPECT_NE(clones[i].node, originals[i].node);
  }
  EXPECT_THROW(static_cast<void>(device().find_in_clone(clones[0].node, graph.get())),
               device::DeviceError);
}

TEST_P(DeviceContract, AppliesAnUpdateToLaterLaunchesOnly) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] { add(stream(), buffer, 1); });
  const device::GraphExec exec = device().instantiate(graph.get());
  device::NodeInfo node = device().nodes(graph.get()).at(0);
  const AddWordsArgs patched{buffer.as<std::uint64_t>(), 100, 1};
  std::memcpy(node.kernel.arguments.at(0).bytes.data(), &patched, sizeof(patched));

  device().launch(exec.get(), stream());
  device().set_kernel(exec.get(), node.node, node.kernel);
  device().launch(exec.get(), stream());
  EXPECT_EQ(download(buffer), Words{101});
}

TEST_P(DeviceContract, LeavesTheGraphAndOtherExecsAloneWhenOneIsPatched) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] { device().fill(stream(), buffer.data(), 1, 8); });
  const device::GraphExec patched = device().instantiate(graph.get());
  const device::NodeInfo node = device().nodes(graph.get()).at(0);
  device().set_fill(patched.get(), node.node, {buffer.data(), 8, 2});
  EXPECT_EQ(device().nodes(graph.get()).at(0).fill->value, 1);
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(buffer), Words{0x0101010101010101U});
  replay(patched);
  EXPECT_EQ(download(buffer), Words{0x0202020202020202U});
}

TEST_P(DeviceContract, PointsACopyNodeAtAnotherSource) {
  const device::Buffer buffer = upload({0});
  const Words dead{1};
  const Words live{2};
  const device::Graph graph =
      capture([&] { device().copy(stream(), buffer.data(), dead.data(), 8); });
  const device::GraphExec exec = device().instantiate(graph.get());
  const device::NodeInfo node = device().nodes(graph.get()).at(0);
  device().set_copy(exec.get(), node.node, {buffer.data(), live.data(), 8});
  replay(exec);
  EXPECT_EQ(download(buffer), Words{2});
}

TEST_P(DeviceContract, SkipsADisabledNodeUntilItIsEnabledAgain) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    add(stream(), buffer, 10);
  });
  const device::GraphExec exec = device().instantiate(graph.get());
  const auto nodes = device().nodes(graph.get());
  device().set_enabled(exec.get(), nodes.at(1).node, false);
  replay(exec);
  EXPECT_EQ(download(buffer), Words{1});
  device().set_enabled(exec.get(), nodes.at(1).node, true);
  replay(exec);
  EXPECT_EQ(download(buffer), Words{12});
}

TEST_P(DeviceContract, RefusesKernelArgumentsOfAnotherSize) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] { add(stream(), buffer, 1); });
  const device::GraphExec exec = device().instantiate(graph.get());
  device::NodeInfo node = device().nodes(graph.get()).at(0);
  node.kernel.arguments.at(0).bytes.pop_back();
  EXPECT_EQ(error_of([&] { device().set_kernel(exec.get(), node.node, node.kernel); }),
            device::ErrorKind::kInvalidArgument);
}

TEST_P(DeviceContract, RefusesToPatchANodeOfAnotherGraph) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] { device().fill(stream(), buffer.data(), 1, 8); });
  const device::Graph clone = device().clone(graph.get());
  const device::GraphExec exec = device().instantiate(graph.get());
  const device::NodeInfo foreign = device().nodes(clone.get()).at(0);
  EXPECT_THROW(device().set_enabled(exec.get(), foreign.node, false), device::DeviceError);
  EXPECT_THROW(device().set_fill(exec.get(), foreign.node, *foreign.fill), device::DeviceError);
}

TEST_P(DeviceContract, AddsOnlyTheEdgesThatAreMissing) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    add(stream(), buffer, 2);
    add(stream(), buffer, 3);
  });
  const auto nodes = device().nodes(graph.get());
  const std::vector<device::EdgeInfo> edges{{nodes.at(0).node, nodes.at(1).node},
                                            {nodes.at(0).node, nodes.at(2).node},
                                            {nodes.at(0).node, nodes.at(2).node}};
  device().add_edges(graph.get(), edges);
  EXPECT_EQ(device().edges(graph.get()).size(), 3U);
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(buffer), Words{6});
}

}  // namespace graphsan::test
