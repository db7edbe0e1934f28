#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "device/buffer.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/native.hpp"
#include "tests/support/gpu_test.hpp"
#include "tests/support/test_kernels.hpp"

namespace graphsan::test {

using Words = std::vector<std::uint64_t>;

/// A CUDA device with one stream, and the few steps that its tests share.
class CudaDeviceTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!has_device()) return;
    device_ = device::make_cuda_device(0);
    stream_ = device_->create_stream();
  }

  /// No call of a test may leave an error behind for the next.
  void TearDown() override {
    if (!has_device()) return;
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }

  [[nodiscard]] device::Device& device() { return *device_; }
  [[nodiscard]] device::StreamRef stream() const { return stream_.get(); }
  [[nodiscard]] cudaStream_t native_stream() const { return device::native(stream_.get()); }

  [[nodiscard]] device::Buffer upload(const Words& words) {
    device::Buffer buffer{device(), words.size() * sizeof(std::uint64_t)};
    device().copy(stream(), buffer.data(), words.data(), buffer.bytes());
    device().synchronize(stream());
    return buffer;
  }

  [[nodiscard]] Words download(const device::Buffer& buffer) {
    Words words(buffer.bytes() / sizeof(std::uint64_t));
    device().copy(stream(), words.data(), buffer.data(), buffer.bytes());
    device().synchronize(stream());
    return words;
  }

  void add(device::StreamRef on, const device::Buffer& buffer, std::uint64_t value) {
    const AddWordsArgs args{buffer.as<std::uint64_t>(), value, buffer.bytes() / sizeof(value)};
    device().launch(on, add_words_kernel(), {}, &args);
  }

  [[nodiscard]] device::Graph capture(const std::function<void()>& issue) {
    device().begin_capture(stream(), device::CaptureMode::kThreadLocal);
    issue();
    return device().end_capture(stream());
  }

  /// An empty graph, to which a test adds nodes through CUDA's own calls.
  [[nodiscard]] device::Graph empty_graph() {
    cudaGraph_t graph = nullptr;
    GRAPHSAN_CUDA_CHECK(cudaGraphCreate(&graph, 0));
    return device::Graph{device(), device::GraphRef{graph}};
  }

  void replay(const device::GraphExec& exec) {
    device().launch(exec.get(), stream());
    device().synchronize(stream());
  }

  [[nodiscard]] static device::ErrorKind error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const device::DeviceError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "the call was accepted";
    return device::ErrorKind::kOther;
  }

 private:
  std::unique_ptr<device::Device> device_;
  device::Stream stream_;
};

/// A struct out of the bytes of an argument.
template <typename Args>
[[nodiscard]] Args read_argument(const device::Argument& argument) {
  Args args{};
  EXPECT_EQ(argument.bytes.size(), sizeof(Args));
  if (argument.bytes.size() == sizeof(Args)) {
    std::memcpy(&args, argument.bytes.data(), sizeof(Args));
  }
  return args;
}

template <typename Args>
void write_argument(device::Argument& argument, const Args& args) {
  ASSERT_EQ(argument.bytes.size(), sizeof(Args));
  std::memcpy(argument.bytes.data(), &args, sizeof(Args));
}

}  // namespace graphsan::test
