#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace graphsan::test {

/// A test that needs a CUDA device: skipped where there is none, failed where GRAPHSAN_REQUIRE_GPU
/// is set. A derived SetUp() calls this one first and returns when has_device() is false.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
    has_device_ = code == cudaSuccess && count > 0;
    if (has_device_) return;
    if (std::getenv("GRAPHSAN_REQUIRE_GPU") != nullptr) {
      FAIL() << "GRAPHSAN_REQUIRE_GPU is set, no device found";
    }
    GTEST_SKIP() << "no CUDA device";
  }

  [[nodiscard]] bool has_device() const noexcept { return has_device_; }

 private:
  bool has_device_ = false;
};

}  // namespace graphsan::test
