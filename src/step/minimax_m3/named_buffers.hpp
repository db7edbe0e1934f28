#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/address_map.hpp"
#include "device/buffer.hpp"

namespace graphsan::step::minimax_m3 {

/// Owns buffers under names, so that an address can be traced back to what it is.
class NamedBuffers {
 public:
  explicit NamedBuffers(device::Device& device) : device_{&device} {}

  /// At least one byte is allocated; contents are undefined.
  template <typename T>
  [[nodiscard]] T* add(std::string name, std::size_t count) {
    buffers_.emplace_back(std::move(name),
                          device::Buffer{*device_, std::max<std::size_t>(1, count * sizeof(T))});
    return buffers_.back().second.template as<T>();
  }

  /// Adds every buffer to `map` as a named buffer that always lives.
  void describe(device::AddressMap& map) const {
    for (const auto& [name, buffer] : buffers_) {
      const auto begin = reinterpret_cast<std::uint64_t>(buffer.data());
      map.add({.begin = begin,
               .end = begin + buffer.bytes(),
               .owner = device::Owner::kNamedBuffer,
               .name = name});
    }
  }

  /// Zero-fills every buffer; asynchronous.
  void clear(device::StreamRef stream) const {
    for (const auto& [name, buffer] : buffers_) {
      device_->fill(stream, buffer.data(), 0, buffer.bytes());
    }
  }

 private:
  device::Device* device_;
  std::vector<std::pair<std::string, device::Buffer>> buffers_;
};

}  // namespace graphsan::step::minimax_m3
