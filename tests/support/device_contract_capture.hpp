#pragma once

#include "device/caching_allocator.hpp"
#include "tests/support/device_contract.hpp"

namespace graphsan::test {

using device::CaptureMode;
using device::CaptureStatus;
using device::ErrorKind;

TEST_P(DeviceContract, ExecutesNothingWhileItCaptures) {
  const device::Buffer buffer = upload({1});
  const device::Graph graph = capture([&] { store(stream(), buffer.data(), 2); });
  EXPECT_EQ(download(buffer), Words{1});
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(buffer), Words{2});
}

TEST_P(DeviceContract, RunsACapturedHostBranchAtCaptureOnly) {
  const device::Buffer buffer = upload({0});
  std::uint64_t live_length = 8;
  int decisions = 0;
  const device::Graph graph = capture([&] {
    ++decisions;
    if (live_length <= 16) {
      store(stream(), buffer.data(), 1);
    } else {
      store(stream(), buffer.data(), 2);
    }
  });
  const device::GraphExec exec = device().instantiate(graph.get());
  live_length = 4096;
  replay(exec);
  replay(exec);
  EXPECT_EQ(decisions, 1);
  EXPECT_EQ(download(buffer), Words{1});
}

TEST_P(DeviceContract, FreezesAScalarArgumentAtCapture) {
  const device::Buffer buffer = upload({0});
  std::uint64_t slot = 3;
  const device::Graph graph = capture([&] { add(stream(), buffer, slot); });
  const device::GraphExec exec = device().instantiate(graph.get());
  replay(exec);
  slot = 100;
  replay(exec);
  EXPECT_EQ(download(buffer), Words{6});
}

TEST_P(DeviceContract, ReadsACapturedPageableSourceAtReplay) {
  const device::Buffer buffer = upload({0});
  Words source{7};
  const device::Graph graph =
      capture([&] { device().copy(stream(), buffer.data(), source.data(), buffer.bytes()); });
  const device::GraphExec exec = device().instantiate(graph.get());
  source[0] = 8;
  replay(exec);
  EXPECT_EQ(download(buffer), Words{8});
}

TEST_P(DeviceContract, ReadsACapturedPinnedSourceAtReplay) {
  const device::Buffer buffer = upload({0});
  const device::Buffer pinned{device(), sizeof(std::uint64_t), device::MemoryKind::kPinnedHost};
  *pinned.as<std::uint64_t>() = 7;
  const device::Graph graph =
      capture([&] { device().copy(stream(), buffer.data(), pinned.data(), buffer.bytes()); });
  const device::GraphExec exec = device().instantiate(graph.get());
  *pinned.as<std::uint64_t>() = 8;
  replay(exec);
  EXPECT_EQ(download(buffer), Words{8});
}

TEST_P(DeviceContract, KeepsTheRawAddressOfAFreedTemporary) {
  const device::Buffer result = upload({0});
  device::CachingAllocator allocator{device()};
  device::Graph graph;
  {
    const device::Temporary scale{allocator, sizeof(std::uint64_t)};
    store(stream(), scale.data(), 1);
    graph = capture([&] { copy_words(stream(), result, scale.data()); });
  }
  const device::Temporary unrelated{allocator, sizeof(std::uint64_t)};
  store(stream(), unrelated.data(), 99);
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(result), Words{99});
}

TEST_P(DeviceContract, RefusesToSynchronizeACapturingStreamAndSpoilsTheCapture) {
  for (const CaptureMode mode :
       {CaptureMode::kGlobal, CaptureMode::kThreadLocal, CaptureMode::kRelaxed}) {
    device().begin_capture(stream(), mode);
    EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kActive);
    EXPECT_EQ(error_of([&] { device().synchronize(stream()); }), ErrorKind::kCaptureRefused);
    EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
    EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
              ErrorKind::kCaptureInvalidated);
    EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kNone);
  }
}

TEST_P(DeviceContract, RefusesWorkInASpoiledCapture) {
  const device::Buffer buffer = upload({1});
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  EXPECT_THROW(device().synchronize(stream()), device::DeviceError);
  EXPECT_EQ(error_of([&] { store(stream(), buffer.data(), 2); }), ErrorKind::kCaptureInvalidated);
  EXPECT_THROW(static_cast<void>(device().end_capture(stream())), device::DeviceError);
  EXPECT_EQ(download(buffer), Words{1});
}

TEST_P(DeviceContract, CanUseAStreamAgainAfterASpoiledCapture) {
  const device::Buffer buffer = upload({1});
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  EXPECT_THROW(device().synchronize(stream()), device::DeviceError);
  EXPECT_THROW(static_cast<void>(device().end_capture(stream())), device::DeviceError);
  const device::Graph graph = capture([&] { store(stream(), buffer.data(), 3); });
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(buffer), Words{3});
}

TEST_P(DeviceContract, RefusesToAllocateInGlobalAndThreadLocalCaptures) {
  for (const CaptureMode mode : {CaptureMode::kGlobal, CaptureMode::kThreadLocal}) {
    device().begin_capture(stream(), mode);
    EXPECT_EQ(error_of([&] { static_cast<void>(device().allocate(64, {})); }),
              ErrorKind::kCaptureRefused);
    EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
              ErrorKind::kCaptureInvalidated);
  }
}

TEST_P(DeviceContract, AllocatesInARelaxedCapture) {
  device::Buffer allocated;
  const device::Graph graph = capture(
      [&] {
        allocated = device::Buffer{device(), sizeof(std::uint64_t)};
        store(stream(), allocated.data(), 5);
      },
      CaptureMode::kRelaxed);
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(allocated), Words{5});
}

TEST_P(DeviceContract, SpoilsAGlobalCaptureWhenMemoryIsFreed) {
  void* address = device().allocate(64, {});
  device().begin_capture(stream(), CaptureMode::kGlobal);
  device().free(address);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kCaptureInvalidated);
}

TEST_P(DeviceContract, AllocatesInACaptureOnceTheThreadsModeIsRelaxed) {
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  const CaptureMode previous = device().exchange_thread_mode(CaptureMode::kRelaxed);
  const device::Buffer buffer{device(), 64};
  EXPECT_EQ(device().exchange_thread_mode(previous), CaptureMode::kRelaxed);
  EXPECT_EQ(previous, CaptureMode::kGlobal);
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kActive);
  static_cast<void>(device().end_capture(stream()));
}

TEST_P(DeviceContract, RefusesABeginOnACapturingStreamAndAnEndOnAnIdleOne) {
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kInvalidArgument);
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  EXPECT_EQ(error_of([&] { device().begin_capture(stream(), CaptureMode::kRelaxed); }),
            ErrorKind::kInvalidArgument);
}

TEST_P(DeviceContract, MarksCapturedWorkForItsListenerAndNotReplays) {
  const device::Buffer buffer = upload({0});
  WorkLog log;
  device().set_work_listener(&log);
  const device::Graph graph = capture([&] { store(stream(), buffer.data(), 1); });
  replay(device().instantiate(graph.get()));
  device().set_work_listener(nullptr);
  ASSERT_EQ(log.records.size(), 1U);
  EXPECT_TRUE(log.records[0].captured);
}

}  // namespace graphsan::test
