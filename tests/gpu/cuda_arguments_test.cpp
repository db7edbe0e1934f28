#include <array>

#include "tests/gpu/argument_kernels.hpp"
#include "tests/gpu/cuda_device_test.hpp"

namespace graphsan::test {
namespace {

using device::ErrorKind;
using device::NodeInfo;

class CudaArguments : public CudaDeviceTest {
 protected:
  [[nodiscard]] device::Graph capture_kernel(const void* symbol, void** parameters) {
    return capture([&] {
      GRAPHSAN_CUDA_CHECK(
          cudaLaunchKernel(symbol, dim3{1}, dim3{32}, parameters, 0, native_stream()));
    });
  }

  [[nodiscard]] ManyWordsArgs many_words(const device::Buffer& buffer) {
    ManyWordsArgs args;
    args.count = kManyWords;
    for (std::uint32_t i = 0; i < kManyWords; ++i) {
      args.destinations[i] = buffer.as<std::uint64_t>() + i;
      args.values[i] = 1000 + i;
    }
    return args;
  }
};

TEST_F(CudaArguments, AreReadByValueFromAStructOverOneKilobyte) {
  const device::Buffer buffer = upload(Words(kManyWords, 0));
  ManyWordsArgs args = many_words(buffer);
  void* parameters[] = {&args};
  const device::Graph graph = capture_kernel(many_words_symbol(), parameters);
  args = ManyWordsArgs{};

  const auto nodes = device().nodes(graph.get());
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_NE(nodes[0].name.find("many_words"), std::string::npos) << nodes[0].name;
  EXPECT_FALSE(nodes[0].packed_arguments);
  EXPECT_EQ(nodes[0].unreadable, "");
  ASSERT_EQ(nodes[0].kernel.arguments.size(), 1U);
  const auto read = read_argument<ManyWordsArgs>(nodes[0].kernel.arguments[0]);
  EXPECT_EQ(read.count, kManyWords);
  EXPECT_EQ(read.destinations[5], buffer.as<std::uint64_t>() + 5);
  EXPECT_EQ(read.values[63], 1063U);
}

TEST_F(CudaArguments, SendWritesElsewhereWhenAPointerInsideAStructIsPatched) {
  const device::Buffer captured = upload(Words(kManyWords, 0));
  const device::Buffer live = upload(Words(kManyWords, 0));
  ManyWordsArgs args = many_words(captured);
  void* parameters[] = {&args};
  const device::Graph graph = capture_kernel(many_words_symbol(), parameters);
  const device::Graph clone = device().clone(graph.get());
  const device::GraphExec exec = device().instantiate(clone.get());
  NodeInfo node = device().nodes(clone.get()).at(0);

  auto patched = read_argument<ManyWordsArgs>(node.kernel.arguments.at(0));
  patched.destinations[7] = live.as<std::uint64_t>() + 7;
  write_argument(node.kernel.arguments[0], patched);
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(captured).at(6), 1006U);
  EXPECT_EQ(download(captured).at(7), 0U);
  EXPECT_EQ(download(live).at(7), 1007U);
}

TEST_F(CudaArguments, ChangeNothingWhenTheyAreGivenBackAsTheyWere) {
  const device::Buffer buffer = upload({1, 1});
  const device::Graph graph = capture([&] { add(stream(), buffer, 5); });
  const device::GraphExec exec = device().instantiate(graph.get());
  const NodeInfo node = device().nodes(graph.get()).at(0);
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(buffer), (Words{6, 6}));
}

TEST_F(CudaArguments, HaveTheOffsetsOfTheParameterBuffer) {
  const device::Buffer buffer = upload({0});
  std::uint64_t* destination = buffer.as<std::uint64_t>();
  std::uint32_t low = 3;
  std::uint8_t shift = 4;
  std::uint64_t offset = 5;
  void* parameters[] = {&destination, &low, &shift, &offset};
  const device::Graph graph = capture_kernel(mixed_arguments_symbol(), parameters);
  NodeInfo node = device().nodes(graph.get()).at(0);

  const auto& arguments = node.kernel.arguments;
  ASSERT_EQ(arguments.size(), 4U);
  const std::array offsets{0U, 8U, 12U, 16U};
  const std::array sizes{8U, 4U, 1U, 8U};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    EXPECT_EQ(arguments[i].offset, offsets[i]) << i;
    EXPECT_EQ(arguments[i].bytes.size(), sizes[i]) << i;
  }
  EXPECT_EQ(read_argument<std::uint32_t>(arguments[1]), 3U);
  EXPECT_EQ(read_argument<std::uint8_t>(arguments[2]), 4U);

  write_argument(node.kernel.arguments[1], std::uint32_t{7});
  const device::GraphExec exec = device().instantiate(graph.get());
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(buffer), Words{7 * 16 + 5});
}

TEST_F(CudaArguments, AreNoneForAKernelWithoutParameters) {
  const device::Graph graph = capture_kernel(no_arguments_symbol(), nullptr);
  const NodeInfo node = device().nodes(graph.get()).at(0);
  EXPECT_TRUE(node.kernel.arguments.empty());
  EXPECT_EQ(node.unreadable, "");
  EXPECT_EQ(node.kernel.dims.block.x, 32U);
  const device::GraphExec exec = device().instantiate(graph.get());
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
}

TEST_F(CudaArguments, AreRefusedWhenOneIsLeftOut) {
  const device::Buffer buffer = upload({0});
  std::uint64_t* destination = buffer.as<std::uint64_t>();
  std::uint32_t low = 3;
  std::uint8_t shift = 4;
  std::uint64_t offset = 5;
  void* parameters[] = {&destination, &low, &shift, &offset};
  const device::Graph graph = capture_kernel(mixed_arguments_symbol(), parameters);
  const device::GraphExec exec = device().instantiate(graph.get());
  NodeInfo node = device().nodes(graph.get()).at(0);
  node.kernel.arguments.pop_back();
  EXPECT_EQ(error_of([&] { device().set_kernel(exec.get(), node.node, node.kernel); }),
            ErrorKind::kInvalidArgument);
}

TEST_F(CudaArguments, ComeWithTheGridWhichMayBePatchedToo) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] { add(stream(), buffer, 5); });
  const device::GraphExec exec = device().instantiate(graph.get());
  NodeInfo node = device().nodes(graph.get()).at(0);
  EXPECT_EQ(node.kernel.dims.grid, (device::Dim3{1, 1, 1}));
  node.kernel.dims.grid.x = 4;
  device().set_kernel(exec.get(), node.node, node.kernel);
  replay(exec);
  EXPECT_EQ(download(buffer), Words{5});
}

}  // namespace
}  // namespace graphsan::test
