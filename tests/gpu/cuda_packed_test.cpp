#include <cudaTypedefs.h>

#include "tests/gpu/argument_kernels.hpp"
#include "tests/gpu/cuda_device_test.hpp"

namespace graphsan::test {
namespace {

/// The parameter buffer of the kernel behind mixed_arguments_symbol().
struct MixedBuffer {
  std::uint64_t* destination;
  std::uint32_t low;
  std::uint8_t shift;
  std::uint64_t offset;
};

enum class TagOrder : std::uint8_t { kPointerFirst, kSizeFirst };

class CudaPackedArguments : public CudaDeviceTest, public ::testing::WithParamInterface<TagOrder> {
 protected:
  /// A graph of one kernel node whose arguments went in as one buffer.
  [[nodiscard]] device::Graph packed_graph(const MixedBuffer& buffer) {
    device::Graph graph = empty_graph();
    MixedBuffer copy = buffer;
    std::size_t size = sizeof(copy);
    void* pointer_first[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &copy, CU_LAUNCH_PARAM_BUFFER_SIZE,
                             &size, CU_LAUNCH_PARAM_END};
    void* size_first[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, &copy,
                          CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS_v2 params{};
    cudaFunction_t function = nullptr;
    GRAPHSAN_CUDA_CHECK(cudaGetFuncBySymbol(&function, mixed_arguments_symbol()));
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = 32;
    params.blockDimY = params.blockDimZ = 1;
    params.extra = GetParam() == TagOrder::kPointerFirst ? pointer_first : size_first;
    CUgraphNode node = nullptr;
    GRAPHSAN_DRIVER_CHECK(
        add_kernel_node()(&node, device::native(graph.get()), nullptr, 0, &params));
    return graph;
  }

 private:
  static PFN_cuGraphAddKernelNode_v12000 add_kernel_node() {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    GRAPHSAN_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuGraphAddKernelNode", &address, 12000,
                                                         cudaEnableDefault, &found));
    return reinterpret_cast<PFN_cuGraphAddKernelNode_v12000>(address);
  }
};

TEST_P(CudaPackedArguments, AreReadAndDivided) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = packed_graph({buffer.as<std::uint64_t>(), 3, 4, 5});
  const auto nodes = device().nodes(graph.get());
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_TRUE(nodes[0].packed_arguments);
  EXPECT_EQ(nodes[0].unreadable, "");
  EXPECT_NE(nodes[0].name.find("mixed_arguments"), std::string::npos) << nodes[0].name;
  const auto& arguments = nodes[0].kernel.arguments;
  ASSERT_EQ(arguments.size(), 4U);
  EXPECT_EQ(read_argument<std::uint64_t*>(arguments[0]), buffer.as<std::uint64_t>());
  EXPECT_EQ(read_argument<std::uint32_t>(arguments[1]), 3U);
  EXPECT_EQ(read_argument<std::uint8_t>(arguments[2]), 4U);
  EXPECT_EQ(arguments[3].offset, 16U);
  EXPECT_EQ(read_argument<std::uint64_t>(arguments[3]), 5U);
}

TEST_P(CudaPackedArguments, CanBePatchedAndChangeNothingWhenGivenBack) {
  const device::Buffer captured = upload({0});
  const device::Buffer live = upload({0});
  const device::Graph graph = packed_graph({captured.as<std::uint64_t>(), 3, 4, 5});
  const device::GraphExec exec = device().instantiate(graph.get());
  device::NodeInfo node = device().nodes(graph.get()).at(0);

  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(captured), Words{3 * 16 + 5});

  write_argument(node.kernel.arguments.at(0), live.as<std::uint64_t>());
  write_argument(node.kernel.arguments.at(1), std::uint32_t{9});
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(captured), Words{3 * 16 + 5});
  EXPECT_EQ(download(live), Words{9 * 16 + 5});
}

TEST_P(CudaPackedArguments, AreRefusedWhenOneHasAnotherSize) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = packed_graph({buffer.as<std::uint64_t>(), 3, 4, 5});
  const device::GraphExec exec = device().instantiate(graph.get());
  device::NodeInfo node = device().nodes(graph.get()).at(0);
  node.kernel.arguments.at(1).bytes.pop_back();
  EXPECT_EQ(error_of([&] { device().set_kernel(exec.get(), node.node, node.kernel); }),
            device::ErrorKind::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Tags, CudaPackedArguments,
                         ::testing::Values(TagOrder::kPointerFirst, TagOrder::kSizeFirst),
                         [](const auto& order) {
                           return order.param == TagOrder::kPointerFirst ? "PointerFirst"
                                                                         : "SizeFirst";
                         });

}  // namespace
}  // namespace graphsan::test
