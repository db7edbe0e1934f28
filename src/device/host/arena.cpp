#include "device/host/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "device/error.hpp"

namespace graphsan::device::host {
namespace {

std::size_t round_up(std::size_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

}  // namespace

Arena::Arena(std::size_t bytes) : capacity_{bytes / kAlignment * kAlignment} {
  if (capacity_ == 0) {
    throw DeviceError{ErrorKind::kInvalidArgument,
                      "host device: memory_bytes must be at least " + std::to_string(kAlignment)};
  }
  void* mapped = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw DeviceError{ErrorKind::kOutOfMemory, "host device: cannot reserve " +
                                                   std::to_string(capacity_) +
                                                   " bytes of addresses: " + std::strerror(errno)};
  }
  base_ = static_cast<std::byte*>(mapped);
  free_.emplace(0, capacity_);
}

Arena::~Arena() { ::munmap(base_, capacity_); }

void* Arena::take(std::size_t bytes) {
  if (bytes > capacity_) return nullptr;
  const std::size_t size = round_up(bytes);
  const auto fit = std::find_if(free_.begin(), free_.end(),
                                [size](const auto& range) { return range.second >= size; });
  if (fit == free_.end()) return nullptr;
  const auto [offset, available] = *fit;
  free_.erase(fit);
  if (available > size) free_.emplace(offset + size, available - size);
  live_.emplace(offset, size);
  used_ += size;
  return base_ + offset;
}

bool Arena::release(void* address) noexcept {
  if (!contains(address)) return false;
  const auto piece =
      live_.find(static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_));
  if (piece == live_.end()) return false;
  auto [offset, size] = *piece;
  live_.erase(piece);
  used_ -= size;

  auto next = free_.upper_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return true;
    }
  }
  free_.emplace_hint(next, offset, size);
  return true;
}

bool Arena::contains(const void* address) const noexcept {
  const auto* byte = static_cast<const std::byte*>(address);
  return base_ <= byte && byte < base_ + capacity_;
}

std::size_t Arena::largest_free() const noexcept {
  std::size_t largest = 0;
  for (const auto& [offset, size] : free_) largest = std::max(largest, size);
  return largest;
}

}  // namespace graphsan::device::host
