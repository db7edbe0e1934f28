#include "device/host/host_device.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device/host/host_device_class.hpp"

namespace graphsan::device {

std::unique_ptr<Device> make_host_device(const HostDeviceOptions& options) {
  return std::make_unique<host::HostDevice>(options);
}

namespace host {
namespace {

constexpr const char* kProcessor =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "CPU";
#endif

DeviceProperties describe_host(std::size_t total_memory) {
  DeviceProperties properties;
  properties.kind = DeviceKind::kHost;
  properties.name = std::string{"host simulation ("} + kProcessor + ")";
  properties.total_memory = total_memory;
  return properties;
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes, const Arena& arena) {
  throw DeviceError{ErrorKind::kOutOfMemory,
                    "allocate: " + std::to_string(bytes) + " bytes asked for, " +
                        std::to_string(arena.free_bytes()) + " of " +
                        std::to_string(arena.capacity()) + " free, the largest free range has " +
                        std::to_string(arena.largest_free())};
}

}  // namespace

HostDevice::HostDevice(const HostDeviceOptions& options)
    : seed_{options.seed}, memory_{options.memory_bytes}, pinned_{options.memory_bytes} {
  properties_ = describe_host(memory_.capacity());
}

void* HostDevice::allocate(std::size_t bytes, MemoryKind kind) {
  check_usable("allocate");
  check_unsafe_call("allocate");
  Arena& arena = kind == MemoryKind::kDevice ? memory_ : pinned_;
  void* address = arena.take(std::max<std::size_t>(bytes, 1));
  if (address == nullptr) throw_out_of_memory(bytes, arena);
  return address;
}

void HostDevice::free(void* address) noexcept {
  if (address == nullptr) return;
  if (spoil_forbidding_captures("free")) {
    kept_.push_back(address);
  } else {
    release(address);
  }
}

void HostDevice::release(void* address) noexcept {
  if (!memory_.release(address)) pinned_.release(address);
}

bool HostDevice::is_pageable(const void* address) const {
  return !memory_.contains(address) && !pinned_.contains(address);
}

Stream HostDevice::create_stream() {
  check_usable("create_stream");
  return Stream{*this, streams_.add(std::make_unique<HostStream>())};
}

void HostDevice::destroy(StreamRef stream) noexcept {
  const std::unique_ptr<HostStream> owned = streams_.take(stream);
  if (owned == nullptr) return;
  abandon_captures_of(*owned);
  try {
    if (lost_because_.empty()) run(*owned);
  } catch (const DeviceError&) {
    // run() keeps the reason; the next call on the device throws it.
  }
}

void HostDevice::synchronize(StreamRef stream) {
  check_usable("synchronize");
  HostStream& target = streams_.get("synchronize", stream);
  if (target.capture != nullptr) {
    target.capture->check_valid("synchronize");
    refuse("synchronize", *target.capture, "the stream is capturing");
  }
  check_unsafe_call("synchronize");
  run(target);
}

void HostDevice::run(HostStream& stream) {
  try {
    stream.queue.run();
  } catch (const DeviceError& error) {
    lost_because_ = error.what();
    throw;
  }
}

void HostDevice::check_usable(const char* call) const {
  if (lost_because_.empty()) return;
  throw DeviceError{ErrorKind::kSticky,
                    std::string{call} + ": the device was lost earlier: " + lost_because_};
}

void HostDevice::launch(StreamRef stream, const Kernel& kernel, const LaunchDims& dims,
                        const void* arguments) {
  check_usable("launch");
  HostStream& target = streams_.get("launch", stream);
  check_dims("launch", dims);
  if (kernel.argument_bytes > 0) check_address("launch", arguments);
  if (kernel.host_function == nullptr && kernel.foreign_function == nullptr) {
    throw DeviceError{ErrorKind::kNotSupported,
                      std::string{"launch: kernel "} + kernel.name + " has no host form"};
  }
  KernelWork work{&kernel, dims, std::vector<std::byte>(kernel.argument_bytes)};
  if (kernel.argument_bytes > 0) {
    std::memcpy(work.arguments.data(), arguments, kernel.argument_bytes);
  }
  accept("launch", target, std::move(work));
}

void HostDevice::copy(StreamRef stream, void* destination, const void* source, std::size_t bytes) {
  check_usable("copy");
  HostStream& target = streams_.get("copy", stream);
  if (bytes == 0) return;
  check_address("copy", destination);
  check_address("copy", source);
  accept("copy", target, CopyParams{destination, source, bytes});
  if (target.capture != nullptr) return;
  if (is_pageable(destination) || waits_for_copies()) run(target);
}

void HostDevice::fill(StreamRef stream, void* destination, std::uint8_t value, std::size_t bytes) {
  check_usable("fill");
  HostStream& target = streams_.get("fill", stream);
  if (bytes == 0) return;
  check_address("fill", destination);
  if (is_pageable(destination)) {
    throw DeviceError{ErrorKind::kInvalidArgument, "fill: the destination is pageable host memory"};
  }
  accept("fill", target, FillParams{destination, bytes, value});
}

void HostDevice::accept(const char* call, HostStream& stream, Work work) {
  WorkRecord record;
  if (has_listener()) record = describe(work);
  if (stream.capture != nullptr) {
    stream.capture->check_valid(call);
    stream.capture->add(stream, std::move(work));
    record.captured = true;
  } else {
    enqueue(stream, std::move(work));
  }
  record.during_capture = !captures_.empty();
  if (has_listener()) notify(std::move(record));
}

Owner HostDevice::memory_kind(const void* address) const {
  if (address == nullptr) return Owner::kUnknown;
  if (memory_.contains(address)) return Owner::kOtherAllocation;
  return pinned_.contains(address) ? Owner::kHostPinned : Owner::kHostPageable;
}

void HostDevice::enqueue(HostStream& stream, Work work) {
  const auto* copy = std::get_if<CopyParams>(&work);
  if (copy == nullptr || !is_pageable(copy->source)) return stream.queue.push(std::move(work));
  const auto* source = static_cast<const std::byte*>(copy->source);
  stream.queue.push(StagedCopy{copy->destination, {source, source + copy->bytes}});
}

}  // namespace host
}  // namespace graphsan::device
