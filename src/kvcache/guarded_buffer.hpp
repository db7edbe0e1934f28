#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/buffer.hpp"
#include "kvcache/cache_set.hpp"

namespace graphsan::kvcache {

/// Device memory with a guard zone before and after it that nobody may write. The zones touch the
/// memory: the byte after the last belongs to one. The memory is 256-byte aligned.
///
/// The zones are exposed as caches of kind kGuard (rows of 128 bytes), so that the pass which
/// hashes the caches also sees a write before the first or after the last row.
class GuardedBuffer {
 public:
  static constexpr std::size_t kGuardBytes = 4096;
  static constexpr std::uint8_t kGuardPattern = 0xA5;  ///< every byte of an untouched zone

  /// `name` names the buffer in reports; the memory is zero-filled and the zones hold a pattern.
  /// Synchronizes `stream`.
  GuardedBuffer(device::Device& device, device::StreamRef stream, std::size_t bytes,
                std::string name);

  [[nodiscard]] void* data() const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The two zones: `NAME, guard before` and `NAME, guard after`.
  [[nodiscard]] std::vector<CacheView> guard_views() const;
  /// Zero-fills the memory and restores the zones; asynchronous.
  void reset(device::StreamRef stream);

 private:
  device::Device* device_;
  std::size_t bytes_;
  std::string name_;
  device::Buffer buffer_;
};

}  // namespace graphsan::kvcache
