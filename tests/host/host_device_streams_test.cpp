// What only the host device promises: its streams execute nothing before someone waits.
#include <stdexcept>

#include "tests/support/host_device_test.hpp"

namespace graphsan::test {
namespace {

using device::ErrorKind;

class HostStreams : public DeviceContract {};

void throw_always(const device::LaunchDims& /*dims*/, const void* /*args*/) {
  throw std::runtime_error{"illegal address"};
}

TEST_P(HostStreams, ExecutesNothingBeforeSynchronize) {
  const device::Buffer pinned{device(), sizeof(std::uint64_t), device::MemoryKind::kPinnedHost};
  *pinned.as<std::uint64_t>() = 1;
  store(stream(), pinned.data(), 2);
  EXPECT_EQ(*pinned.as<std::uint64_t>(), 1U);
  device().synchronize(stream());
  EXPECT_EQ(*pinned.as<std::uint64_t>(), 2U);
}

TEST_P(HostStreams, SynchronizesOnlyTheStreamThatIsAsked) {
  const device::Buffer pinned{device(), sizeof(std::uint64_t), device::MemoryKind::kPinnedHost};
  *pinned.as<std::uint64_t>() = 1;
  store(other(), pinned.data(), 2);
  device().synchronize(stream());
  EXPECT_EQ(*pinned.as<std::uint64_t>(), 1U);
}

TEST_P(HostStreams, ReadsAPinnedSourceWhenTheEagerCopyExecutes) {
  const device::Buffer buffer = upload({0});
  const device::Buffer staging{device(), sizeof(std::uint64_t), device::MemoryKind::kPinnedHost};
  *staging.as<std::uint64_t>() = 7;
  device().copy(stream(), buffer.data(), staging.data(), buffer.bytes());
  *staging.as<std::uint64_t>() = 8;
  EXPECT_EQ(download(buffer), Words{8});
}

TEST_P(HostStreams, WaitsForTheRecordThatWasLatestAtTheCall) {
  const device::Buffer source = upload({0});
  const device::Buffer copied = upload({0});
  const device::Event event = device().create_event();
  store(other(), source.data(), 1);
  device().record(event.get(), other());
  device().wait(stream(), event.get());
  store(other(), source.data(), 2);
  device().record(event.get(), other());
  copy_words(stream(), copied, source.data());
  EXPECT_EQ(download(copied), Words{1});
  device().synchronize(other());
  EXPECT_EQ(download(source), Words{2});
}

TEST_P(HostStreams, FollowsEventsThroughSeveralStreams) {
  const device::Buffer buffer = upload({1});
  const device::Stream third = device().create_stream();
  add(third.get(), buffer, 1);
  order(third.get(), other());
  add(other(), buffer, 10);
  order(other(), stream());
  EXPECT_EQ(download(buffer), Words{12});
}

TEST_P(HostStreams, FinishesTheWorkOfADestroyedStream) {
  const device::Buffer buffer = upload({0});
  {
    const device::Stream brief = device().create_stream();
    store(brief.get(), buffer.data(), 5);
  }
  EXPECT_EQ(download(buffer), Words{5});
}

TEST_P(HostStreams, HasNoTimeForAnEventWhoseWorkHasNotRun) {
  const device::Event event = device().create_event();
  device().record(event.get(), stream());
  EXPECT_EQ(error_of([&] { static_cast<void>(device().elapsed_ms(event.get(), event.get())); }),
            ErrorKind::kInvalidArgument);
}

TEST_P(HostStreams, RefusesAKernelWithoutAHostForm) {
  device::Kernel kernel = store_word_kernel();
  kernel.host_function = nullptr;
  const StoreWordArgs args;
  EXPECT_EQ(error_of([&] { device().launch(stream(), kernel, {}, &args); }),
            ErrorKind::kNotSupported);
}

TEST_P(HostStreams, RefusesNullAddresses) {
  const Words source{1};
  EXPECT_EQ(error_of([&] { device().copy(stream(), nullptr, source.data(), 8); }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(error_of([&] { device().fill(stream(), nullptr, 0, 8); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(error_of([&] { device().launch(stream(), store_word_kernel(), {}, nullptr); }),
            ErrorKind::kInvalidArgument);
}

TEST_P(HostStreams, RefusesToFillPageableMemory) {
  Words words{1};
  EXPECT_EQ(error_of([&] { device().fill(stream(), words.data(), 0, 8); }),
            ErrorKind::kInvalidArgument);
}

TEST_P(HostStreams, RefusesAHandleThatWasDestroyed) {
  device::StreamRef gone;
  {
    const device::Stream brief = device().create_stream();
    gone = brief.get();
  }
  EXPECT_EQ(error_of([&] { device().synchronize(gone); }), ErrorKind::kInvalidArgument);
}

TEST_P(HostStreams, LosesTheDeviceWhenAKernelFails) {
  device::Kernel faulty = store_word_kernel();
  faulty.name = "faulty";
  faulty.host_function = &throw_always;
  const device::Buffer buffer = upload({0});
  const StoreWordArgs args{buffer.as<std::uint64_t>(), 1};
  device().launch(stream(), faulty, {}, &args);
  EXPECT_EQ(error_of([&] { device().synchronize(stream()); }), ErrorKind::kSticky);
  EXPECT_EQ(error_of([&] { store(stream(), buffer.data(), 1); }), ErrorKind::kSticky);
  EXPECT_EQ(error_of([&] { device().synchronize(other()); }), ErrorKind::kSticky);
}

INSTANTIATE_TEST_SUITE_P(Host, HostStreams, ::testing::Values(host_device_under_test()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace graphsan::test
