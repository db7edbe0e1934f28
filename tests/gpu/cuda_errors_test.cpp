#include <cstdlib>
#include <string>

#include "tests/gpu/cuda_device_test.hpp"

namespace graphsan::test {
namespace {

using device::CaptureMode;
using device::ErrorKind;

class CudaErrors : public CudaDeviceTest {};

/// Exit code of the process below when the kind of the error was right.
constexpr int kSawSticky = 42;

/// Writes to an address that nobody owns; leaves the process, whose context is lost.
[[noreturn]] void write_to_nowhere() {
  const auto device = device::make_cuda_device(0);
  const device::Stream stream = device->create_stream();
  const StoreWordArgs args{reinterpret_cast<std::uint64_t*>(std::uintptr_t{8}), 1};
  try {
    device->launch(stream.get(), store_word_kernel(), {}, &args);
    device->synchronize(stream.get());
  } catch (const device::DeviceError& error) {
    std::_Exit(error.kind() == ErrorKind::kSticky ? kSawSticky : 1);
  }
  std::_Exit(2);
}

TEST_F(CudaErrors, AreSaidWithTheCallAndCudasOwnWords) {
  try {
    static_cast<void>(device().allocate(std::size_t{1} << 60, device::MemoryKind::kDevice));
    FAIL() << "an exbibyte was allocated";
  } catch (const device::CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    const std::string what = error.what();
    EXPECT_NE(what.find("cudaErrorMemoryAllocation"), std::string::npos) << what;
    EXPECT_NE(what.find("cudaMalloc"), std::string::npos) << what;
  }
}

TEST_F(CudaErrors, AreClearedSoThatTheNextCallIsNotBlamed) {
  EXPECT_THROW(static_cast<void>(device().allocate(std::size_t{1} << 60, {})), device::DeviceError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaErrors, RefuseACaptureThatSynchronizesAndLeaveTheDeviceUsable) {
  const device::Buffer buffer = upload({1});
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  add(stream(), buffer, 1);
  EXPECT_EQ(error_of([&] { device().synchronize(stream()); }), ErrorKind::kCaptureRefused);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kCaptureInvalidated);
  add(stream(), buffer, 10);
  EXPECT_EQ(download(buffer), Words{11});
  const device::Graph graph = capture([&] { add(stream(), buffer, 100); });
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(buffer), Words{111});
}

TEST_F(CudaErrors, RefuseToSynchronizeTheWholeDeviceWhileItCaptures) {
  device().begin_capture(stream(), CaptureMode::kGlobal);
  EXPECT_EQ(error_of([] { GRAPHSAN_CUDA_CHECK(cudaDeviceSynchronize()); }),
            ErrorKind::kCaptureRefused);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kCaptureInvalidated);
}

TEST_F(CudaErrors, FreeMemoryThatACaptureHeldBackOnceItHasEnded) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const std::size_t before = device().free_memory();
  void* memory = device().allocate(kBytes, device::MemoryKind::kDevice);
  device().begin_capture(stream(), CaptureMode::kGlobal);
  device().free(memory);
  EXPECT_THROW(static_cast<void>(device().end_capture(stream())), device::DeviceError);
  EXPECT_GE(device().free_memory() + kBytes / 2, before);
}

TEST_F(CudaErrors, CallAnIllegalAddressSticky) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(write_to_nowhere(), ::testing::ExitedWithCode(kSawSticky), "");
}

TEST_F(CudaErrors, SayThatADeviceIsNotThere) {
  EXPECT_EQ(error_of([] { static_cast<void>(device::make_cuda_device(1000)); }),
            ErrorKind::kNoDevice);
  EXPECT_EQ(error_of([] { static_cast<void>(device::make_cuda_device(-1)); }),
            ErrorKind::kNoDevice);
}

TEST_F(CudaErrors, DoNotHideTheDevicesProperties) {
  const device::DeviceProperties& properties = device().properties();
  EXPECT_EQ(properties.kind, device::DeviceKind::kCuda);
  EXPECT_NE(properties.name, "");
  EXPECT_GE(properties.compute_major, 8);
  EXPECT_GT(properties.total_memory, std::size_t{1} << 30);
  EXPECT_EQ(properties.runtime_version.find("13."), 0U) << properties.runtime_version;
  EXPECT_NE(properties.driver_version, "");
  const int capability = properties.compute_major * 10 + properties.compute_minor;
  EXPECT_EQ(properties.native_fp8, capability >= 89);
  EXPECT_GT(device().free_memory(), 0U);
}

}  // namespace
}  // namespace graphsan::test
