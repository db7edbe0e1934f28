#include "kvcache/guarded_buffer.hpp"

#include <utility>

namespace graphsan::kvcache {
namespace {

constexpr std::int64_t kGuardRowBytes = 128;

CacheView guard_view(std::string name, void* base) {
  constexpr auto kZoneBytes = static_cast<std::int64_t>(GuardedBuffer::kGuardBytes);
  model::CacheLayout layout;
  layout.name = std::move(name);
  layout.kind = model::CacheKind::kGuard;
  layout.dtype = model::DType::kU8;
  layout.pages = 1;
  layout.page_size = kZoneBytes / kGuardRowBytes;
  layout.heads = 1;
  layout.dim = kGuardRowBytes;
  layout.page_stride = kZoneBytes;
  layout.slot_stride = kGuardRowBytes;
  layout.head_stride = kGuardRowBytes;
  return {std::move(layout), base};
}

}  // namespace

GuardedBuffer::GuardedBuffer(device::Device& device, device::StreamRef stream, std::size_t bytes,
                             std::string name)
    : device_{&device},
      bytes_{bytes},
      name_{std::move(name)},
      buffer_{device, bytes + 2 * kGuardBytes} {
  reset(stream);
  device.synchronize(stream);
}

void* GuardedBuffer::data() const { return buffer_.as<std::byte>() + kGuardBytes; }

std::vector<CacheView> GuardedBuffer::guard_views() const {
  auto* const after = static_cast<std::byte*>(data()) + bytes_;
  return {guard_view(name_ + ", guard before", buffer_.data()),
          guard_view(name_ + ", guard after", after)};
}

void GuardedBuffer::reset(device::StreamRef stream) {
  auto* const start = buffer_.as<std::byte>();
  device_->fill(stream, start, kGuardPattern, kGuardBytes);
  if (bytes_ > 0) device_->fill(stream, data(), 0, bytes_);
  device_->fill(stream, start + kGuardBytes + bytes_, kGuardPattern, kGuardBytes);
}

}  // namespace graphsan::kvcache
