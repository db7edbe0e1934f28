#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/device.hpp"

namespace graphsan::device {

/// Names a private pool; graphs that share one reuse each other's freed blocks.
struct PoolId {
  std::uint32_t value = 0;  ///< 0: the general pool
  friend auto operator<=>(const PoolId&, const PoolId&) = default;
};

/// A block of the allocator, live or free.
struct Block {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  PoolId pool;
  bool live = false;
  std::uint64_t allocated_epoch = 0;  ///< counts every allocate() and free()
  std::uint64_t freed_epoch = 0;      ///< 0 while live
};

/// Stream-ordered caching allocator with graph pools, as frameworks have one: a freed block is
/// handed out again at once and its memory is never returned to the device, so that a dangling
/// address reads whatever came later. First fit by size, blocks of 512 bytes, deterministic.
class CachingAllocator {
 public:
  explicit CachingAllocator(Device& device, std::size_t segment_bytes = std::size_t{2} << 20);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  [[nodiscard]] void* allocate(std::size_t bytes);
  /// `address` must be live; throws DeviceError kInvalidArgument otherwise.
  void free(void* address);

  [[nodiscard]] PoolId create_pool();
  /// Routes allocate() to `pool` until end_pool(), as during a capture.
  void begin_pool(PoolId pool);
  void end_pool();

  /// While kept, blocks that are freed are not handed out again; they are when the last keeper
  /// ends. Memory that comes from the device meanwhile is filled with 0xFF, so that nothing relies
  /// on its being zero. begin_keeping() must not be called while a capture forbids making a stream.
  void begin_keeping();
  void end_keeping();

  [[nodiscard]] std::uint64_t epoch() const noexcept;
  /// Blocks ordered by address.
  [[nodiscard]] std::vector<Block> snapshot() const;
  /// The block that holds `address`, live or free.
  [[nodiscard]] std::optional<Block> find(std::uint64_t address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keeps freed blocks from being handed out again during its life.
class FreedBlocksKept {
 public:
  explicit FreedBlocksKept(CachingAllocator& allocator) : allocator_{&allocator} {
    allocator.begin_keeping();
  }
  FreedBlocksKept(const FreedBlocksKept&) = delete;
  FreedBlocksKept& operator=(const FreedBlocksKept&) = delete;
  ~FreedBlocksKept() { allocator_->end_keeping(); }

 private:
  CachingAllocator* allocator_;
};

/// A block of a CachingAllocator, returned to it at the end of its life: a framework's temporary.
class Temporary {
 public:
  Temporary(CachingAllocator& allocator, std::size_t bytes)
      : allocator_{&allocator}, data_{allocator.allocate(bytes)} {}
  Temporary(Temporary&& other) noexcept
      : allocator_{other.allocator_}, data_{std::exchange(other.data_, nullptr)} {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (data_ != nullptr) allocator_->free(data_);
  }
  [[nodiscard]] void* data() const noexcept { return data_; }
  template <typename T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  CachingAllocator* allocator_;
  void* data_;
};

}  // namespace graphsan::device
