#pragma once

#include <cstddef>
#include <utility>

#include "device/device.hpp"

namespace graphsan::device {

/// Owns memory of a device. The device must outlive it; work that uses it must have finished.
class Buffer {
 public:
  Buffer() noexcept = default;
  Buffer(Device& device, std::size_t bytes, MemoryKind kind = MemoryKind::kDevice)
      : device_{&device}, data_{device.allocate(bytes, kind)}, bytes_{bytes} {}
  Buffer(Buffer&& other) noexcept
      : device_{other.device_},
        data_{std::exchange(other.data_, nullptr)},
        bytes_{std::exchange(other.bytes_, 0)} {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) device_->free(data_);
  }

  [[nodiscard]] void* data() const noexcept { return data_; }
  template <typename T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace graphsan::device
