#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "tests/support/device_contract.hpp"

namespace graphsan::test {

/// A device with one stream, and memory that lives as long as it does.
class DeviceArena {
 public:
  explicit DeviceArena(std::unique_ptr<device::Device> device)
      : device_{std::move(device)}, stream_{device_->create_stream()} {}

  [[nodiscard]] device::Device& device() { return *device_; }
  [[nodiscard]] device::StreamRef stream() const { return stream_.get(); }

  /// Memory for `count` elements, every byte 0xFF: NaN in each float type, -1 in each integer.
  template <typename T>
  [[nodiscard]] T* make(std::size_t count) {
    buffers_.emplace_back(*device_, count * sizeof(T) + 1);
    device_->fill(stream(), buffers_.back().data(), 0xFF, buffers_.back().bytes());
    return buffers_.back().as<T>();
  }

  template <typename T>
  [[nodiscard]] T* upload(const std::vector<T>& values) {
    T* address = make<T>(values.size());
    store(address, values);
    return address;
  }

  template <typename T>
  void store(T* address, const std::vector<T>& values) {
    device_->copy(stream(), address, values.data(), values.size() * sizeof(T));
    device_->synchronize(stream());
  }

  template <typename T>
  [[nodiscard]] std::vector<T> download(const T* address, std::size_t count) {
    std::vector<T> values(count);
    device_->copy(stream(), values.data(), address, count * sizeof(T));
    device_->synchronize(stream());
    return values;
  }

 private:
  std::unique_ptr<device::Device> device_;
  device::Stream stream_;
  std::vector<device::Buffer> buffers_;
};

/// A test of ops on the device that the suite is instantiated with; skipped, or failed under
/// GRAPHSAN_REQUIRE_GPU, where the machine has none.
class OpTest : public ::testing::TestWithParam<DeviceUnderTest> {
 protected:
  void SetUp() override {
    std::unique_ptr<device::Device> device = GetParam().open();
    if (device == nullptr) {
      if (std::getenv("GRAPHSAN_REQUIRE_GPU") != nullptr) FAIL() << "GRAPHSAN_REQUIRE_GPU is set";
      GTEST_SKIP() << "no such device";
    }
    arena_ = std::make_unique<DeviceArena>(std::move(device));
  }

  [[nodiscard]] DeviceArena& arena() { return *arena_; }
  [[nodiscard]] device::Device& device() { return arena_->device(); }
  [[nodiscard]] device::StreamRef stream() const { return arena_->stream(); }

 private:
  std::unique_ptr<DeviceArena> arena_;
};

}  // namespace graphsan::test
