#pragma once

#include <graphsan/plugin.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/kernel.hpp"
#include "kvcache/guarded_buffer.hpp"
#include "step/plugin/capture_labels.hpp"
#include "step/segmented_capture.hpp"

namespace graphsan::step::plugin {

/// What a plug-in may ask of GraphSan, as functions of the C ABI.
///
/// No exception passes through a plug-in: one that a function meets is kept, the function returns
/// non-zero, and end_call() throws it once the plug-in has returned.
class PluginHost {
 public:
  PluginHost(device::Device& device, device::StreamRef setup_stream);
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;
  ~PluginHost();

  /// The table that plug-ins get; valid as long as this object.
  [[nodiscard]] const graphsan_host* table() const { return &table_.abi; }

  /// Forgets what an earlier call left.
  void begin_call();
  /// The plug-in has returned: throws what a function of the table met since begin_call().
  void end_call();
  /// What the plug-in said of its failure; empty where it said nothing.
  [[nodiscard]] const std::string& why() const { return why_; }

  /// Breaks end a segment of this capture; null: ops that are run eagerly just run.
  void set_capture(SegmentedCapture* capture) { capture_ = capture; }
  /// The nodes that label() named, of what was captured since clear().
  [[nodiscard]] CaptureLabels& capture_labels() { return capture_labels_; }
  /// Memory may be asked for from now on, or no more.
  void set_may_allocate(bool may) { may_allocate_ = may; }

  [[nodiscard]] const std::vector<std::unique_ptr<kvcache::GuardedBuffer>>& buffers() const {
    return buffers_;
  }

 private:
  /// The ABI's struct first, so that its address is this one's.
  struct Table {
    graphsan_host abi{};
    PluginHost* self = nullptr;
  };
  /// A host kernel of the plug-in as the device's own kind.
  struct HostKernel {
    device::Kernel kernel;
    std::vector<device::ArgumentFieldInfo> fields;
  };

  [[nodiscard]] static PluginHost& self_of(const graphsan_host* host);
  template <typename Body>
  static int guarded(const graphsan_host* host, Body&& body) noexcept;
  [[nodiscard]] void* allocate(const char* name, std::size_t bytes);
  void launch(device::StreamRef stream, const graphsan_host_kernel& kernel, const void* arguments);
  void label(device::StreamRef stream, const char* source);
  /// Tells the labels what a stream captures, and the label that holds from now on.
  void mark(device::StreamRef stream, const std::optional<std::string>& source);
  void run_eagerly(device::StreamRef stream, const char* name, int (*op)(void*, void*),
                   void* argument);

  device::Device* device_;
  device::StreamRef setup_stream_;
  Table table_;
  std::string why_;
  std::exception_ptr met_;
  bool in_call_ = false;
  bool may_allocate_ = false;
  SegmentedCapture* capture_ = nullptr;
  std::optional<device::LabelScope> label_;
  CaptureLabels capture_labels_;
  std::vector<std::unique_ptr<kvcache::GuardedBuffer>> buffers_;
  std::map<const graphsan_host_kernel*, HostKernel> kernels_;
};

}  // namespace graphsan::step::plugin
