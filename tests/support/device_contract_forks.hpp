#pragma once

#include "tests/support/device_contract.hpp"

namespace graphsan::test {

using device::CaptureMode;
using device::CaptureStatus;
using device::ErrorKind;

TEST_P(DeviceContract, JoinsAStreamThatWaitsForACapturedEventToTheCapture) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    order(stream(), other());
    EXPECT_EQ(device().capture_status(other()), CaptureStatus::kActive);
    store(other(), buffer.data(), 4);
    order(other(), stream());
  });
  EXPECT_EQ(device().capture_status(other()), CaptureStatus::kNone);
  ASSERT_EQ(device().nodes(graph.get()).size(), 1U);
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(buffer), Words{4});
}

TEST_P(DeviceContract, MakesEdgesAndNoNodesOfForkAndJoin) {
  const device::Buffer buffer = upload({0});
  const device::Graph graph = capture([&] {
    add(stream(), buffer, 1);
    order(stream(), other());
    add(stream(), buffer, 2);
    add(other(), buffer, 3);
    order(other(), stream());
    add(stream(), buffer, 4);
  });
  const auto nodes = device().nodes(graph.get());
  ASSERT_EQ(nodes.size(), 4U);
  for (const device::NodeInfo& node : nodes) EXPECT_EQ(node.kind, device::NodeKind::kKernel);
  const auto has_edge = [edges = device().edges(graph.get())](const device::NodeInfo& from,
                                                              const device::NodeInfo& to) {
    return std::count_if(edges.begin(), edges.end(), [&](const device::EdgeInfo& edge) {
             return edge.from == from.node && edge.to == to.node;
           }) == 1;
  };
  EXPECT_EQ(device().edges(graph.get()).size(), 4U);
  EXPECT_TRUE(has_edge(nodes[0], nodes[1]));
  EXPECT_TRUE(has_edge(nodes[0], nodes[2]));
  EXPECT_TRUE(has_edge(nodes[1], nodes[3]));
  EXPECT_TRUE(has_edge(nodes[2], nodes[3]));
}

TEST_P(DeviceContract, SpoilsACaptureWhoseForkIsNotJoined) {
  const device::Buffer buffer = upload({0});
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  add(stream(), buffer, 1);
  order(stream(), other());
  add(other(), buffer, 2);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kCaptureInvalidated);
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kNone);
  EXPECT_EQ(device().capture_status(other()), CaptureStatus::kNone);
  EXPECT_EQ(download(buffer), Words{0});
}

TEST_P(DeviceContract, RefusesToEndACaptureOnAForkedStream) {
  const device::Buffer buffer = upload({0});
  device().begin_capture(stream(), CaptureMode::kThreadLocal);
  add(stream(), buffer, 1);
  order(stream(), other());
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(other())); }),
            ErrorKind::kCaptureRefused);
}

TEST_P(DeviceContract, RefusesToWaitInACaptureForAnEventFromOutside) {
  const device::Buffer buffer = upload({0});
  const device::Event outside = device().create_event();
  add(other(), buffer, 1);
  device().record(outside.get(), other());
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  EXPECT_EQ(error_of([&] { device().wait(stream(), outside.get()); }), ErrorKind::kCaptureRefused);
  EXPECT_EQ(device().capture_status(stream()), CaptureStatus::kInvalidated);
}

TEST_P(DeviceContract, RefusesToMergeTwoCaptures) {
  device().begin_capture(stream(), CaptureMode::kRelaxed);
  device().begin_capture(other(), CaptureMode::kRelaxed);
  EXPECT_EQ(error_of([&] { order(other(), stream()); }), ErrorKind::kCaptureRefused);
  EXPECT_EQ(error_of([&] { static_cast<void>(device().end_capture(stream())); }),
            ErrorKind::kCaptureInvalidated);
}

TEST_P(DeviceContract, RunsWorkOfAnUnrelatedStreamEagerlyDuringARelaxedCapture) {
  const device::Buffer captured = upload({0});
  const device::Buffer escaped = upload({0});
  WorkLog log;
  device().set_work_listener(&log);
  const device::Graph graph = capture(
      [&] {
        add(stream(), captured, 1);
        add(other(), escaped, 1);
        device().synchronize(other());
      },
      CaptureMode::kRelaxed);
  device().set_work_listener(nullptr);

  ASSERT_EQ(log.records.size(), 2U);
  EXPECT_TRUE(log.records[0].captured);
  EXPECT_FALSE(log.records[1].captured);
  EXPECT_EQ(device().nodes(graph.get()).size(), 1U);
  EXPECT_EQ(download(escaped), Words{1});
  replay(device().instantiate(graph.get()));
  EXPECT_EQ(download(captured), Words{1});
  EXPECT_EQ(download(escaped), Words{1});
}

}  // namespace graphsan::test
