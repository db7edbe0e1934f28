#include "step/plugin/plugin_host.hpp"

#include <fmt/format.h>

#include <utility>

#include "step/plugin/plugin_error.hpp"

namespace graphsan::step::plugin {

namespace {

/// A plug-in's function takes its arguments alone: the grid is its own business.
void run_host_kernel(const device::Kernel& kernel, const device::LaunchDims&, const void* args) {
  static_cast<const graphsan_host_kernel*>(kernel.foreign)->run(args);
}

}  // namespace

PluginHost::PluginHost(device::Device& device, device::StreamRef setup_stream)
    : device_{&device}, setup_stream_{setup_stream} {
  table_.self = this;
  graphsan_host& abi = table_.abi;
  abi.struct_size = sizeof(abi);
  abi.is_cuda = device.properties().kind == device::DeviceKind::kCuda ? 1 : 0;
  abi.fail = [](const graphsan_host* host, const char* why) {
    self_of(host).why_ = why == nullptr ? "" : why;
  };
  abi.allocate = [](const graphsan_host* host, const char* name, std::size_t bytes) -> void* {
    void* address = nullptr;
    guarded(host, [&](PluginHost& self) { address = self.allocate(name, bytes); });
    return address;
  };
  abi.copy = [](const graphsan_host* host, void* stream, void* to, const void* from,
                std::size_t bytes) {
    return guarded(host, [&](PluginHost& self) {
      self.device_->copy(device::StreamRef{stream}, to, from, bytes);
    });
  };
  abi.fill = [](const graphsan_host* host, void* stream, void* to, std::uint8_t value,
                std::size_t bytes) {
    return guarded(host, [&](PluginHost& self) {
      self.device_->fill(device::StreamRef{stream}, to, value, bytes);
    });
  };
  abi.synchronize = [](const graphsan_host* host, void* stream) {
    return guarded(host,
                   [&](PluginHost& self) { self.device_->synchronize(device::StreamRef{stream}); });
  };
  abi.launch = [](const graphsan_host* host, void* stream, const graphsan_host_kernel* kernel,
                  const void* arguments) {
    return guarded(host, [&](PluginHost& self) {
      if (kernel == nullptr || kernel->run == nullptr) {
        throw PluginFailure{"launch() was given no function"};
      }
      self.launch(device::StreamRef{stream}, *kernel, arguments);
    });
  };
  abi.label = [](const graphsan_host* host, void* stream, const char* source) {
    guarded(host, [&](PluginHost& self) { self.label(device::StreamRef{stream}, source); });
  };
  abi.run_eagerly = [](const graphsan_host* host, void* stream, const char* name,
                       int (*op)(void*, void*), void* argument) {
    return guarded(host, [&](PluginHost& self) {
      self.run_eagerly(device::StreamRef{stream}, name, op, argument);
    });
  };
}

PluginHost::~PluginHost() = default;

PluginHost& PluginHost::self_of(const graphsan_host* host) {
  return *reinterpret_cast<const Table*>(host)->self;
}

template <typename Body>
int PluginHost::guarded(const graphsan_host* host, Body&& body) noexcept {
  PluginHost& self = self_of(host);
  try {
    body(self);
    return 0;
  } catch (...) {
    if (!self.met_) self.met_ = std::current_exception();
    return 1;
  }
}

void PluginHost::begin_call() {
  why_.clear();
  met_ = nullptr;
  in_call_ = true;
}

void PluginHost::end_call() {
  in_call_ = false;
  label_.reset();
  for (const device::StreamRef& stream : capture_labels_.streams()) {
    // A capture that the step has ended itself is for whoever takes its graph.
    if (device_->captured_graph(stream)) mark(stream, std::nullopt);
  }
  capture_labels_.end_labels();
  if (met_) std::rethrow_exception(std::exchange(met_, nullptr));
}

void* PluginHost::allocate(const char* name, std::size_t bytes) {
  if (!may_allocate_) {
    throw PluginFailure{
        "allocate() was called outside create(): GraphSan's memory lives as long as the step"};
  }
  if (bytes == 0) throw PluginFailure{"allocate() was asked for no bytes"};
  buffers_.push_back(std::make_unique<kvcache::GuardedBuffer>(
      *device_, setup_stream_, bytes, name == nullptr ? "allocation" : name));
  return buffers_.back()->data();
}

void PluginHost::launch(device::StreamRef stream, const graphsan_host_kernel& kernel,
                        const void* arguments) {
  if (device_->properties().kind == device::DeviceKind::kCuda) {
    throw PluginFailure{
        "launch() is for the host device; on CUDA, launch kernels on the call's stream"};
  }
  const auto [place, is_new] = kernels_.try_emplace(&kernel);
  HostKernel& known = place->second;
  if (is_new) {
    const char* name = kernel.name == nullptr ? "host kernel" : kernel.name;
    for (std::int32_t i = 0; i < kernel.field_count; ++i) {
      const graphsan_field& field = kernel.fields[i];
      if (field.name == nullptr ||
          field.offset + std::uint64_t{field.size} > kernel.argument_bytes) {
        kernels_.erase(place);
        throw PluginFailure{
            fmt::format("launch() of {}: field {} has no name, or lies outside the {} bytes of its "
                        "arguments",
                        name, i, kernel.argument_bytes)};
      }
      known.fields.push_back(
          {field.name, field.offset, field.size, field.is_pointer != 0, field.is_written != 0});
    }
    known.kernel = {.name = name,
                    .argument_bytes = kernel.argument_bytes,
                    .fields = known.fields,
                    .foreign = &kernel,
                    .foreign_function = &run_host_kernel};
  }
  device_->launch(stream, known.kernel, {}, arguments);
}

void PluginHost::mark(device::StreamRef stream, const std::optional<std::string>& source) {
  const device::GraphRef graph = device_->captured_graph(stream);
  std::vector<device::NodeRef> nodes;
  if (graph) nodes = device_->node_refs(graph);
  capture_labels_.label(stream, graph, nodes, source);
}

void PluginHost::label(device::StreamRef stream, const char* source) {
  label_.reset();
  if (source == nullptr) return mark(stream, std::nullopt);
  mark(stream, source);
  label_.emplace(*device_, source);
}

void PluginHost::run_eagerly(device::StreamRef stream, const char* name, int (*op)(void*, void*),
                             void* argument) {
  const std::string called = name == nullptr ? "eager op" : name;
  if (op == nullptr)
    throw PluginFailure{fmt::format("run_eagerly() of {} was given no op", called)};
  // At a replay nobody else is inside the plug-in, and the op is a call of its own.
  const auto run = [this, called, op, argument](device::StreamRef on) {
    const bool nested = in_call_;
    if (!nested) begin_call();
    // An op within this one is part of it: there is no segment open that it could break.
    struct Restore {
      SegmentedCapture*& place;
      SegmentedCapture* before;
      ~Restore() { place = before; }
    } const restore{capture_, std::exchange(capture_, nullptr)};
    int status = 0;
    try {
      status = op(argument, on.raw);
    } catch (const std::exception& error) {
      throw PluginFailure{
          fmt::format("the op {} that runs eagerly threw: {}", called, error.what())};
    } catch (...) {
      throw PluginFailure{
          fmt::format("the op {} that runs eagerly threw no std::exception", called)};
    }
    if (!nested) end_call();
    if (status != 0) {
      throw PluginFailure{fmt::format("the op {} that runs eagerly returned {}{}", called, status,
                                      why_.empty() ? "" : ": " + why_)};
    }
  };
  if (capture_ == nullptr) return run(stream);
  mark(stream, capture_labels_.source(stream));  // while the segment's graph is open
  capture_->break_here(called, run);
}

}  // namespace graphsan::step::plugin
