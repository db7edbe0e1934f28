// Capture rules whose violation has an undefined or driver-dependent outcome on CUDA.
#include <thread>

#include "tests/support/host_device_test.hpp"

namespace graphsan::test {
namespace {

using device::CaptureMode;
using device::CaptureStatus;
using device::ErrorKind;

class HostCapture : public DeviceContract {};

TEST_P(HostCapture, RefusesToSynchronizeAnUnrelatedStreamUnlessRelaxed) {
  for (const CaptureMode mode : {CaptureMode::kGlobal, CaptureMode::kThreadLocal}) {
    device().begin_capture(stream(), mode);
    EXPECT_EQ(error_of([&] { device().synchronize(other()); }), ErrorKind::kCaptureRefused);
    EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
    EXPECT_THROW(static_cast<void>(device().end_capture(stream())), device::DeviceError);
  }
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  device().synchronize(other());
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kActive);
}

TEST_P(HostCapture, RefusesElapsedTimeUnlessRelaxed) {
  const device::Event event = device().create_event();
  device().record(event.get(), other());
  device().synchronize(other());
  const auto measure = [&] { static_cast<void>(device().elapsed_ms(event.get(), event.get())); };
  for (const CaptureMode mode : {CaptureMode::kGlobal, CaptureMode::kThreadLocal}) {
    device().begin_capture(stream(), mode);
    EXPECT_EQ(error_of(measure), ErrorKind::kCaptureRefused);
    EXPECT_THROW(static_cast<void>(device().end_capture(stream())), device::DeviceError);
  }
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  measure();
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kActive);
}

TEST_P(HostCapture, HasNoTimeForACapturedEvent) {
  const device::Event event = device().create_event();
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  device().record(event.get(), stream());
  EXPECT_EQ(error_of([&] { static_cast<void>(device().elapsed_ms(event.get(), event.get())); }),
            ErrorKind::kCaptureRefused);
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
}

TEST_P(HostCapture, ReleasesMemoryFreedInACaptureWhenTheCaptureEnds) {
  const std::size_t before = device().free_memory();
  void* address = device().allocate(4096, {});
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  device().free(address);
  EXPECT_EQ(device().free_memory(), before - 4096);
  EXPECT_THROW(static_cast<void>(device().end_capture(stream())), device::DeviceError);
  EXPECT_EQ(device().free_memory(), before);
}

TEST_P(HostCapture, IsSpoiledByAnotherThreadOnlyInGlobalMode) {
  const auto allocate_elsewhere = [this] {
    bool refused = false;
    std::thread{[&] {
      try {
        device().free(device().allocate(64, {}));
      } catch (const device::DeviceError& error) {
        refused = error.kind() == ErrorKind::kCaptureRefused;
      }
    }}.join();
    return refused;
  };
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  EXPECT_FALSE(allocate_elsewhere());
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kActive);
  static_cast<void>(device().end_capture(stream()));
  device().begin_capture(stream(), CaptureMode::kGlobal);
  EXPECT_TRUE(allocate_elsewhere());
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
}

TEST_P(HostCapture, RefusesToEndACaptureOfAnotherThread) {
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  ErrorKind kind = ErrorKind::kOther;
  std::thread{[&] {
    kind = error_of([&] { static_cast<void>(device().end_capture(stream())); });
  }}.join();
  EXPECT_EQ(kind, ErrorKind::kCaptureRefused);
}

TEST_P(HostCapture, RefusesAGraphLaunchIntoACapture) {
  const device::Graph graph = capture([] {});
  const device::GraphExec exec = device().instantiate(graph.get());
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  EXPECT_EQ(error_of([&] { device().launch(exec.get(), stream()); }), ErrorKind::kCaptureRefused);
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
}

TEST_P(HostCapture, SaysWhichCallSpoiledTheCaptureFirst) {
  device().begin_capture(stream(), CaptureMode::kGlobal);
  EXPECT_THROW(static_cast<void>(device().allocate(64, {})), device::DeviceError);
  EXPECT_THROW(device().synchronize(other()), device::DeviceError);
  try {
    static_cast<void>(device().end_capture(stream()));
    FAIL() << "the capture was not spoiled";
  } catch (const device::DeviceError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCaptureInvalidated);
    EXPECT_NE(std::string{error.what()}.find("allocate is forbidden in a capture in global mode"),
              std::string::npos)
        << error.what();
  }
}

TEST_P(HostCapture, SpoilsTheCaptureThatAStreamLeavesByBeingDestroyed) {
  {
    const device::Stream brief = device().create_stream();
    device().begin_capture(stream(), CaptureMode::kRelaxed);
    order(stream(), brief.get());
  }
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kCaptureInvalidated);
}

TEST_P(HostCapture, EndsWhenItsOriginIsDestroyed) {
  {
    const device::Stream brief = device().create_stream();
    device().begin_capture(brief.get(), CaptureMode::kGlobal);
    order(brief.get(), other());
  }
  EXPECT_EQ(device().capture_status(other()), CaptureStatus::kNone);
  device().free(device().allocate(64, {}));
  device().synchronize(other());
}

TEST_P(HostCapture, RefusesToWaitForAnEventOfACaptureThatHasEnded) {
  const device::Event event = device().create_event();
  const device::Graph graph = capture([&] { device().record(event.get(), stream()); });
  EXPECT_EQ(error_of([&] { device().wait(other(), event.get()); }), ErrorKind::kInvalidArgument);
  device().record(event.get(), stream());
  device().wait(other(), event.get());
  device().synchronize(other());
}

TEST_P(HostCapture, KeepsEarlierEagerWorkOfAStreamThatBeginsToCapture) {
  const device::Buffer buffer = upload({0});
  add(stream(), buffer, 1);
  const device::Graph graph = capture([&] { add(stream(), buffer, 10); });
  EXPECT_EQ(download(buffer), Words{1});
  EXPECT_EQ(device().nodes(graph.get()).size(), 1U);
}

TEST_P(HostCapture, AcceptsAForkWithoutWork) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    order(stream(), other());
    add(stream(), buffer, 2);
  });
  EXPECT_EQ(device().nodes(graph.get()).size(), 2U);
}

TEST_P(HostCapture, AcceptsAForkJoinedThroughAnotherFork) {
  const device::Buffer buffer = upload({0});
  const device::Stream third = device().create_stream();
  const device::Graph graph = capture([&] {
    order(stream(), other());
    add(other(), buffer, 1);
    order(other(), third.get());
    add(third.get(), buffer, 2);
    order(third.get(), stream());
  });
  EXPECT_EQ(device().nodes(graph.get()).size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Host, HostCapture, ::testing::Values(host_device_under_test()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace graphsan::test
