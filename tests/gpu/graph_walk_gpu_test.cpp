#include "tests/gpu/cuda_device_test.hpp"
#include "trace/graph_walk.hpp"
#include "trace/work_recorder.hpp"

namespace graphsan::test {
namespace {

class CudaGraphWalk : public CudaDeviceTest {};

TEST_F(CudaGraphWalk, GivesNodesTheLabelsAndFieldsOfTheirLaunches) {
  const device::Buffer buffer = upload({0});
  trace::WorkRecorder recorder;
  device().set_work_listener(&recorder);
  const device::Graph graph = capture([&] {
    for (const char* name : {"layer 0 / insert", "layer 1 / insert"}) {
      const device::LabelScope label{device(), name};
      add(stream(), buffer, 1);
    }
    device().fill(stream(), buffer.data(), 0, 8);
  });
  device().set_work_listener(nullptr);

  const trace::GraphWalk walk = trace::walk_graph(device(), graph.get(), recorder.records());
  const std::vector<model::Work>& nodes = walk.segment.nodes;
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].name, "add_words");
  EXPECT_EQ(nodes[0].source, "layer 0 / insert");
  EXPECT_EQ(nodes[1].source, "layer 1 / insert");
  ASSERT_EQ(nodes[1].fields.size(), 3U);
  EXPECT_EQ(nodes[1].fields[1].name, "value");
  EXPECT_EQ(nodes[2].name, "memset");
  EXPECT_EQ(walk.segment.edges, (std::vector<model::GraphEdge>{{0, 1}, {1, 2}}));
}

TEST_F(CudaGraphWalk, NamesTheNodesWhoseOperandsItCannotRead) {
  const device::Buffer a = upload(Words(64, 0));
  const device::Buffer b = upload(Words(64, 0));
  const device::Graph graph = capture([&] {
    GRAPHSAN_CUDA_CHECK(cudaMemcpy2DAsync(a.data(), 64, b.data(), 128, 32, 4,
                                          cudaMemcpyDeviceToDevice, native_stream()));
  });
  const trace::GraphWalk walk = trace::walk_graph(device(), graph.get(), {});
  EXPECT_EQ(walk.unread,
            std::vector<std::string>{"node 0 (memcpy): pitched copy of 32 x 4 x 1 bytes"});
}

}  // namespace
}  // namespace graphsan::test
