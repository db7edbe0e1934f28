#include <algorithm>
#include <string>

#include "tests/gpu/cuda_device_test.hpp"

namespace graphsan::test {
namespace {

using device::ErrorKind;
using device::NodeInfo;
using device::NodeKind;

class CudaGraph : public CudaDeviceTest {
 protected:
  /// Adds, in issue order, the values 1..count on three streams in turn, forked and joined.
  [[nodiscard]] device::Graph forked_graph(const device::Buffer& buffer, std::uint64_t count) {
    const device::Stream left = device().create_stream();
    const device::Stream right = device().create_stream();
    const device::Event fork = device().create_event();
    const device::Event left_done = device().create_event();
    const device::Event right_done = device().create_event();
    return capture([&] {
      device().record(fork.get(), stream());
      device().wait(left.get(), fork.get());
      device().wait(right.get(), fork.get());
      const std::vector streams{right.get(), stream(), left.get()};
      for (std::uint64_t i = 1; i <= count; ++i) add(streams[i % 3], buffer, i);
      device().record(left_done.get(), left.get());
      device().record(right_done.get(), right.get());
      device().wait(stream(), left_done.get());
      device().wait(stream(), right_done.get());
    });
  }

  [[nodiscard]] static std::vector<std::uint64_t> added_values(const std::vector<NodeInfo>& nodes) {
    std::vector<std::uint64_t> values;
    for (const NodeInfo& node : nodes) {
      values.push_back(read_argument<AddWordsArgs>(node.kernel.arguments.at(0)).value);
    }
    return values;
  }

  [[nodiscard]] NodeInfo only_node(const device::Graph& graph) {
    const auto nodes = device().nodes(graph.get());
    EXPECT_EQ(nodes.size(), 1U);
    return nodes.empty() ? NodeInfo{} : nodes.front();
  }

  [[nodiscard]] device::Graph fill_graph(const cudaMemsetParams& params) {
    device::Graph graph = empty_graph();
    cudaGraphNode_t node = nullptr;
    GRAPHSAN_CUDA_CHECK(
        cudaGraphAddMemsetNode(&node, device::native(graph.get()), nullptr, 0, &params));
    return graph;
  }
};

TEST_F(CudaGraph, ListsNodesInCreationOrderAcrossBranches) {
  constexpr std::uint64_t kNodes = 120;
  const device::Buffer buffer = upload({0});
  const device::Graph graph = forked_graph(buffer, kNodes);
  std::vector<std::uint64_t> expected(kNodes);
  for (std::uint64_t i = 0; i < kNodes; ++i) expected[i] = i + 1;
  EXPECT_EQ(added_values(device().nodes(graph.get())), expected);
  const device::Graph clone = device().clone(graph.get());
  EXPECT_EQ(added_values(device().nodes(clone.get())), expected);
}

TEST_F(CudaGraph, RunsInCreationOrderOnceEdgesAreAddedToAClone) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = forked_graph(buffer, 30);
  const device::Graph clone = device().clone(graph.get());
  const auto nodes = device().nodes(clone.get());
  std::vector<device::EdgeInfo> chain;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    chain.push_back({nodes[i - 1].node, nodes[i].node});
  device().add_edges(clone.get(), chain);
  device().add_edges(clone.get(), chain);

  const auto edges = device().edges(clone.get());
  for (const device::EdgeInfo& wanted : chain) {
    EXPECT_EQ(std::count_if(edges.begin(), edges.end(),
                            [&wanted](const device::EdgeInfo& edge) {
                              return edge.from == wanted.from && edge.to == wanted.to;
                            }),
              1);
  }
  EXPECT_LT(device().edges(graph.get()).size(), edges.size());
  replay(device().instantiate(clone.get()));
  EXPECT_EQ(download(buffer), Words{30 * 31 / 2});
}

TEST_F(CudaGraph, RefusesEdgesThatCloseACycle) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    add(stream(), buffer, 2);
  });
  const auto nodes = device().nodes(graph.get());
  const std::vector<device::EdgeInfo> back{{nodes.at(1).node, nodes.at(0).node}};
  EXPECT_THROW(
      {
        device().add_edges(graph.get(), back);
        static_cast<void>(device().instantiate(graph.get()));
      },
      device::DeviceError);
}

TEST_F(CudaGraph, CannotCloneAGraphThatAllocates) {
  const device::Graph graph = capture([&] {
    void* memory = nullptr;
    GRAPHSAN_CUDA_CHECK(cudaMallocAsync(&memory, 1024, native_stream()));
    device().fill(stream(), memory, 1, 1024);
    GRAPHSAN_CUDA_CHECK(cudaFreeAsync(memory, native_stream()));
  });
  const auto nodes = device().nodes(graph.get());
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].kind, NodeKind::kAllocation);
  EXPECT_EQ(nodes[0].name, "allocation");
  EXPECT_EQ(nodes[1].kind, NodeKind::kFill);
  EXPECT_EQ(nodes[2].kind, NodeKind::kAllocation);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().clone(graph.get())); }),
            ErrorKind::kNotSupported);
}

TEST_F(CudaGraph, SaysWhichCopiesItCannotRead) {
  const device::Buffer a = upload(Words(64, 0));
  const device::Buffer b = upload(Words(64, 0));
  const device::Graph graph = capture([&] {
    GRAPHSAN_CUDA_CHECK(cudaMemcpy2DAsync(a.data(), 64, b.data(), 128, 32, 4,
                                          cudaMemcpyDeviceToDevice, native_stream()));
  });
  const NodeInfo node = only_node(graph);
  EXPECT_EQ(node.kind, NodeKind::kCopy);
  EXPECT_FALSE(node.copy.has_value());
  EXPECT_EQ(node.unreadable, "pitched copy of 32 x 4 x 1 bytes");
}

TEST_F(CudaGraph, SaysWhichFillsItCannotRead) {
  const device::Buffer buffer = upload(Words(64, 0));
  cudaMemsetParams params{};
  params.dst = buffer.data();
  params.value = 0x01020304;
  params.elementSize = 4;
  params.width = 16;
  params.height = 1;
  const NodeInfo node = only_node(fill_graph(params));
  EXPECT_EQ(node.kind, NodeKind::kFill);
  EXPECT_FALSE(node.fill.has_value());
  EXPECT_EQ(node.unreadable, "fill with the 4-byte pattern 0x1020304");
}

TEST_F(CudaGraph, ReadsAndPatchesAFillOfWideElementsInBytes) {
  const device::Buffer buffer = upload({9, 9});
  cudaMemsetParams params{};
  params.dst = buffer.data();
  params.value = 0;
  params.elementSize = 4;
  params.width = 2;
  params.height = 1;
  const device::Graph graph = fill_graph(params);
  const NodeInfo node = only_node(graph);
  ASSERT_TRUE(node.fill.has_value());
  EXPECT_EQ(node.fill->bytes, 8U);
  EXPECT_EQ(node.fill->value, 0);
  const device::GraphExec exec = device().instantiate(graph.get());
  device().set_fill(exec.get(), node.node, {buffer.data(), 8, 0x11});
  replay(exec);
  EXPECT_EQ(download(buffer), (Words{0x1111111111111111U, 9}));
}

TEST_F(CudaGraph, SendsACopyToItsPatchedDestination) {
  const device::Buffer source = upload({5});
  const device::Buffer captured = upload({0});
  const device::Buffer live = upload({0});
  const device::Graph graph =
      capture([&] { device().copy(stream(), captured.data(), source.data(), 8); });
  const device::Graph clone = device().clone(graph.get());
  const NodeInfo node = only_node(clone);
  const device::GraphExec exec = device().instantiate(clone.get());
  device().set_copy(exec.get(), node.node, {live.data(), source.data(), 8});
  replay(exec);
  EXPECT_EQ(download(captured), Words{0});
  EXPECT_EQ(download(live), Words{5});
}

TEST_F(CudaGraph, DisablesKernelsCopiesAndFills) {
  const device::Buffer buffer = upload({1, 1, 1});
  const device::Buffer source = upload({7});
  auto* words = buffer.as<std::uint64_t>();
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    device().copy(stream(), words + 1, source.data(), 8);
    device().fill(stream(), words + 2, 0, 8);
  });
  const device::GraphExec exec = device().instantiate(graph.get());
  for (const NodeInfo& node : device().nodes(graph.get())) {
    device().set_enabled(exec.get(), node.node, false);
  }
  replay(exec);
  EXPECT_EQ(download(buffer), (Words{1, 1, 1}));
}

TEST_F(CudaGraph, NamesTheKindsOfOtherNodes) {
  const device::Graph graph = empty_graph();
  const device::Graph child = empty_graph();
  const device::Event event = device().create_event();
  cudaGraph_t native = device::native(graph.get());
  cudaGraphNode_t node = nullptr;
  cudaHostNodeParams host{[](void*) {}, nullptr};
  GRAPHSAN_CUDA_CHECK(cudaGraphAddEmptyNode(&node, native, nullptr, 0));
  GRAPHSAN_CUDA_CHECK(cudaGraphAddHostNode(&node, native, nullptr, 0, &host));
  GRAPHSAN_CUDA_CHECK(
      cudaGraphAddChildGraphNode(&node, native, nullptr, 0, device::native(child.get())));
  GRAPHSAN_CUDA_CHECK(
      cudaGraphAddEventRecordNode(&node, native, nullptr, 0, device::native(event.get())));
  GRAPHSAN_CUDA_CHECK(
      cudaGraphAddEventWaitNode(&node, native, nullptr, 0, device::native(event.get())));
  std::vector<std::string> names;
  for (const NodeInfo& info : device().nodes(graph.get())) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"empty", "host", "child-graph", "event", "event"}));
}

TEST_F(CudaGraph, KnowsAConditionalNode) {
  const device::Graph graph = empty_graph();
  cudaGraph_t native = device::native(graph.get());
  cudaGraphConditionalHandle handle = 0;
  GRAPHSAN_CUDA_CHECK(
      cudaGraphConditionalHandleCreate(&handle, native, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaGraphAddNode(&node, native, nullptr, nullptr, 0, &params));
  EXPECT_EQ(only_node(graph).kind, NodeKind::kConditional);
}

}  // namespace
}  // namespace graphsan::test
