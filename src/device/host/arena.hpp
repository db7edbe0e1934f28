#pragma once

#include <cstddef>
#include <map>

namespace graphsan::device::host {

/// One mapped range of addresses that hands out 256-byte aligned pieces, lowest fitting first.
///
/// The range stays mapped for the arena's life and keeps its bytes when a piece is released, so an
/// address that outlived its piece reads what was there last, or what came later.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 256;

  /// Reserves `bytes` of addresses; pages cost memory once they are touched. Throws kOutOfMemory.
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Null when no free range is large enough. `bytes` must not be zero.
  [[nodiscard]] void* take(std::size_t bytes);
  /// False when no piece begins at `address`.
  bool release(void* address) noexcept;

  [[nodiscard]] bool contains(const void* address) const noexcept;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t free_bytes() const noexcept { return capacity_ - used_; }
  /// Largest piece that take() could give now.
  [[nodiscard]] std::size_t largest_free() const noexcept;

 private:
  std::byte* base_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::map<std::size_t, std::size_t> free_;  ///< offset to size, neighbours merged
  std::map<std::size_t, std::size_t> live_;  ///< offset to size
};

}  // namespace graphsan::device::host
