#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "tests/support/test_kernels.hpp"

namespace graphsan::test {

/// A device that the contract is tested on.
struct DeviceUnderTest {
  std::string name;
  /// Null where the machine has no such device: the test is skipped then, or fails when
  /// GRAPHSAN_REQUIRE_GPU is set.
  std::function<std::unique_ptr<device::Device>()> open;
  friend void PrintTo(const DeviceUnderTest& device, std::ostream* out) { *out << device.name; }
};

/// Collects what a device tells its listener.
class WorkLog : public device::WorkListener {
 public:
  void on_work(const device::WorkRecord& record) override { records.push_back(record); }
  std::vector<device::WorkRecord> records;
};

/// What every Device must do, whichever it is. The tests are in device_contract_*.hpp; a test
/// program includes them in one file and instantiates the suite with its device.
class DeviceContract : public ::testing::TestWithParam<DeviceUnderTest> {
 protected:
  using Words = std::vector<std::uint64_t>;

  void SetUp() override {
    device_ = GetParam().open();
    if (device_ == nullptr) {
      if (std::getenv("GRAPHSAN_REQUIRE_GPU") != nullptr) FAIL() << "GRAPHSAN_REQUIRE_GPU is set";
      GTEST_SKIP() << "no such device";
    }
    stream_ = device_->create_stream();
    other_stream_ = device_->create_stream();
  }

  [[nodiscard]] device::Device& device() { return *device_; }
  [[nodiscard]] device::StreamRef stream() const { return stream_.get(); }
  [[nodiscard]] device::StreamRef other() const { return other_stream_.get(); }

  /// Device memory that holds `words`.
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

  void store(device::StreamRef on, void* destination, std::uint64_t value) {
    const StoreWordArgs args{static_cast<std::uint64_t*>(destination), value};
    device().launch(on, store_word_kernel(), {}, &args);
  }

  void add(device::StreamRef on, const device::Buffer& buffer, std::uint64_t value) {
    const AddWordsArgs args{buffer.as<std::uint64_t>(), value, buffer.bytes() / sizeof(value)};
    device().launch(on, add_words_kernel(), {}, &args);
  }

  void copy_words(device::StreamRef on, const device::Buffer& destination, const void* source) {
    const CopyWordsArgs args{destination.as<std::uint64_t>(),
                             static_cast<const std::uint64_t*>(source),
                             destination.bytes() / sizeof(std::uint64_t)};
    device().launch(on, copy_words_kernel(), {}, &args);
  }

  /// Captures what `issue` does on stream().
  [[nodiscard]] device::Graph capture(
      const std::function<void()>& issue,
      device::CaptureMode mode = device::CaptureMode::kThreadLocal) {
    device().begin_capture(stream(), mode);
    issue();
    return device().end_capture(stream());
  }

  void replay(const device::GraphExec& exec) {
    device().launch(exec.get(), stream());
    device().synchronize(stream());
  }

  /// Makes `waiting` come after what `ahead` holds now.
  void order(device::StreamRef ahead, device::StreamRef waiting) {
    events_.push_back(device().create_event());
    device().record(events_.back().get(), ahead);
    device().wait(waiting, events_.back().get());
  }

  /// Kind of the DeviceError that `call` throws; fails the test when it throws none.
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
  device::Stream other_stream_;
  std::vector<device::Event> events_;
};

}  // namespace graphsan::test
