#pragma once

#include <cmath>

#include "tests/support/device_contract.hpp"

namespace graphsan::test {

TEST_P(DeviceContract, RunsTheWorkOfAStreamInIssueOrder) {
  const device::Buffer buffer = upload({0, 0});
  add(stream(), buffer, 5);
  store(stream(), buffer.data(), 100);
  add(stream(), buffer, 1);
  EXPECT_EQ(download(buffer), (Words{101, 6}));
}

TEST_P(DeviceContract, TakesKernelArgumentsAtTheLaunch) {
  const device::Buffer buffer = upload({0});
  StoreWordArgs args{buffer.as<std::uint64_t>(), 7};
  device().launch(stream(), store_word_kernel(), {}, &args);
  args = {nullptr, 8};
  EXPECT_EQ(download(buffer), Words{7});
}

TEST_P(DeviceContract, TakesPageableSourceBytesAtTheCallWhenEager) {
  const device::Buffer buffer = upload({0});
  Words source{7};
  device().copy(stream(), buffer.data(), source.data(), buffer.bytes());
  source[0] = 8;
  EXPECT_EQ(download(buffer), Words{7});
}

TEST_P(DeviceContract, HasFinishedACopyToPageableMemoryWhenTheCallReturns) {
  const device::Buffer buffer = upload({1});
  add(stream(), buffer, 2);
  Words destination{0};
  device().copy(stream(), destination.data(), buffer.data(), buffer.bytes());
  EXPECT_EQ(destination, Words{3});
}

TEST_P(DeviceContract, CopiesThroughPinnedMemory) {
  const device::Buffer pinned{device(), 2 * sizeof(std::uint64_t), device::MemoryKind::kPinnedHost};
  pinned.as<std::uint64_t>()[0] = 3;
  pinned.as<std::uint64_t>()[1] = 4;
  const device::Buffer buffer = upload({0, 0});
  device().copy(stream(), buffer.data(), pinned.data(), pinned.bytes());
  EXPECT_EQ(download(buffer), (Words{3, 4}));
}

TEST_P(DeviceContract, DoesNothingForZeroBytes) {
  const device::Buffer buffer = upload({9});
  device().fill(stream(), buffer.data(), 0, 0);
  device().copy(stream(), buffer.data(), buffer.data(), 0);
  EXPECT_EQ(download(buffer), Words{9});
}

TEST_P(DeviceContract, TellsItsListenerNothingOfZeroBytes) {
  const device::Buffer buffer = upload({9});
  WorkLog log;
  device().set_work_listener(&log);
  device().fill(stream(), buffer.data(), 0, 0);
  device().copy(stream(), buffer.data(), buffer.data(), 0);
  device().set_work_listener(nullptr);
  EXPECT_TRUE(log.records.empty());
}

TEST_P(DeviceContract, FillsEachByte) {
  const device::Buffer buffer = upload({0, 0});
  device().fill(stream(), buffer.data(), 0xAB, sizeof(std::uint64_t));
  EXPECT_EQ(download(buffer), (Words{0xABABABABABABABABU, 0}));
}

TEST_P(DeviceContract, WaitsForTheEventOfAnotherStream) {
  const device::Buffer source = upload({1});
  const device::Buffer copied = upload({0});
  add(other(), source, 41);
  order(other(), stream());
  copy_words(stream(), copied, source.data());
  EXPECT_EQ(download(copied), Words{42});
}

TEST_P(DeviceContract, DoesNotWaitForAnEventThatWasNeverRecorded) {
  const device::Buffer buffer = upload({0});
  const device::Event event = device().create_event();
  device().wait(stream(), event.get());
  store(stream(), buffer.data(), 1);
  EXPECT_EQ(download(buffer), Words{1});
}

TEST_P(DeviceContract, MeasuresTimeBetweenTwoEvents) {
  const device::Buffer buffer = upload({0});
  const device::Event begin = device().create_event();
  const device::Event end = device().create_event();
  device().record(begin.get(), stream());
  add(stream(), buffer, 1);
  device().record(end.get(), stream());
  device().synchronize(stream());
  const double elapsed = device().elapsed_ms(begin.get(), end.get());
  EXPECT_TRUE(std::isfinite(elapsed));
  EXPECT_GE(elapsed, 0.0);
}

TEST_P(DeviceContract, HasNoTimeForAnEventThatWasNeverRecorded) {
  const device::Event begin = device().create_event();
  const device::Event end = device().create_event();
  EXPECT_EQ(error_of([&] { static_cast<void>(device().elapsed_ms(begin.get(), end.get())); }),
            device::ErrorKind::kInvalidArgument);
}

TEST_P(DeviceContract, AlignsAllocationsTo256Bytes) {
  for (const std::size_t bytes : {0U, 1U, 255U, 257U}) {
    const device::Buffer buffer{device(), bytes};
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U) << bytes;
  }
}

TEST_P(DeviceContract, SaysOutOfMemoryWhenTheDeviceHasLess) {
  const std::size_t too_much = 2 * device().properties().total_memory;
  EXPECT_EQ(error_of([&] { static_cast<void>(device().allocate(too_much, {})); }),
            device::ErrorKind::kOutOfMemory);
}

TEST_P(DeviceContract, FreesNullWithoutEffect) {
  device().free(nullptr);
  const device::Buffer buffer = upload({1});
  EXPECT_EQ(download(buffer), Words{1});
}

TEST_P(DeviceContract, RefusesALaunchWithoutThreads) {
  const device::Buffer buffer = upload({1});
  const StoreWordArgs args{buffer.as<std::uint64_t>(), 2};
  const device::LaunchDims no_grid{{0, 1, 1}, {}, 0};
  EXPECT_EQ(error_of([&] { device().launch(stream(), store_word_kernel(), no_grid, &args); }),
            device::ErrorKind::kInvalidArgument);
  EXPECT_EQ(download(buffer), Words{1});
}

TEST_P(DeviceContract, TellsItsListenerOfEachPieceOfWorkInIssueOrder) {
  const device::Buffer buffer = upload({0});
  const Words source{5};
  WorkLog log;
  device().set_work_listener(&log);
  {
    const device::LabelScope outer{device(), "layer 1"};
    store(stream(), buffer.data(), 3);
    const device::LabelScope inner{device(), "layer 1 / insert"};
    device().copy(stream(), buffer.data(), source.data(), buffer.bytes());
  }
  device().fill(stream(), buffer.data(), 9, buffer.bytes());
  device().set_work_listener(nullptr);
  device().synchronize(stream());

  ASSERT_EQ(log.records.size(), 3U);
  EXPECT_EQ(log.records[0].kind, device::NodeKind::kKernel);
  EXPECT_EQ(log.records[0].kernel, &store_word_kernel());
  EXPECT_EQ(log.records[0].label, "layer 1");
  ASSERT_EQ(log.records[0].arguments.size(), sizeof(StoreWordArgs));
  StoreWordArgs args;
  std::memcpy(&args, log.records[0].arguments.data(), sizeof(args));
  EXPECT_EQ(args.destination, buffer.data());
  EXPECT_EQ(args.value, 3U);
  ASSERT_TRUE(log.records[1].copy.has_value());
  EXPECT_EQ(log.records[1].copy->source, source.data());
  EXPECT_EQ(log.records[1].label, "layer 1 / insert");
  ASSERT_TRUE(log.records[2].fill.has_value());
  EXPECT_EQ(log.records[2].fill->value, 9);
  EXPECT_EQ(log.records[2].label, "");
  for (const device::WorkRecord& record : log.records) EXPECT_FALSE(record.captured);
}

}  // namespace graphsan::test
