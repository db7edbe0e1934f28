#pragma once

#include <utility>

namespace graphsan::device {

class Device;

/// Borrowed handle: `cudaStream_t` and its like on CUDA, an object of the host device otherwise.
/// Copying it owns nothing; a framework's handles enter GraphSan in this form.
template <typename Tag>
struct Ref {
  void* raw = nullptr;
  explicit operator bool() const noexcept { return raw != nullptr; }
  friend bool operator==(const Ref&, const Ref&) = default;
};

using StreamRef = Ref<struct StreamTag>;
using EventRef = Ref<struct EventTag>;
using GraphRef = Ref<struct GraphTag>;
using GraphExecRef = Ref<struct GraphExecTag>;
using NodeRef = Ref<struct NodeTag>;

/// Owns one handle of a device; empty when default-constructed or moved from. Borrow with get().
///
/// The destructor neither throws nor synchronizes. The device must outlive the handle.
template <typename Tag>
class Owned {
 public:
  Owned() noexcept = default;
  Owned(Device& device, Ref<Tag> ref) noexcept : device_{&device}, ref_{ref} {}
  Owned(Owned&& other) noexcept
      : device_{other.device_}, ref_{std::exchange(other.ref_, Ref<Tag>{})} {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(ref_, other.ref_);
    return *this;
  }
  ~Owned();

  [[nodiscard]] Ref<Tag> get() const noexcept { return ref_; }
  [[nodiscard]] Ref<Tag> release() noexcept { return std::exchange(ref_, Ref<Tag>{}); }
  explicit operator bool() const noexcept { return static_cast<bool>(ref_); }

 private:
  Device* device_ = nullptr;
  Ref<Tag> ref_;
};

using Stream = Owned<StreamTag>;
using Event = Owned<EventTag>;
using Graph = Owned<GraphTag>;
using GraphExec = Owned<GraphExecTag>;

}  // namespace graphsan::device
