#include "device/caching_allocator.hpp"

#include <algorithm>
#include <string>

namespace graphsan::device {
namespace {

constexpr std::size_t kGranule = 512;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
}

/// Lets the device allocate while the caller captures, as frameworks' allocators do.
class RelaxedThreadMode {
 public:
  explicit RelaxedThreadMode(Device& device)
      : device_{device}, previous_{device.exchange_thread_mode(CaptureMode::kRelaxed)} {}
  RelaxedThreadMode(const RelaxedThreadMode&) = delete;
  RelaxedThreadMode& operator=(const RelaxedThreadMode&) = delete;
  ~RelaxedThreadMode() { device_.exchange_thread_mode(previous_); }

 private:
  Device& device_;
  CaptureMode previous_;
};

}  // namespace

struct CachingAllocator::State {
  State(Device& owner, std::size_t segment) : device{owner}, segment_bytes{segment} {}

  using Blocks = std::map<std::uint64_t, Block>;

  [[nodiscard]] bool is_kept(const Block& block) const {
    return keepers != 0 && block.freed_epoch > kept_since;
  }
  [[nodiscard]] Blocks::iterator best_free(PoolId pool, std::size_t bytes);
  void split(Block& block, std::size_t bytes);
  /// Merges free neighbours of one segment; done only when no block fits, so that freed blocks
  /// keep their identity as long as possible.
  void merge_free(PoolId pool);
  Blocks::iterator add_segment(PoolId pool, std::size_t bytes);

  Device& device;
  std::size_t segment_bytes;
  std::map<std::uint64_t, void*> segments;  ///< by address
  Blocks blocks;                            ///< by address
  std::uint64_t epoch = 0;
  std::uint32_t pools = 0;
  PoolId current;
  int keepers = 0;
  Stream fresh;                  ///< fills segments while somebody keeps
  std::uint64_t kept_since = 0;  ///< epoch at which the first keeper began
};

CachingAllocator::State::Blocks::iterator CachingAllocator::State::best_free(PoolId pool,
                                                                             std::size_t bytes) {
  auto best = blocks.end();
  for (auto it = blocks.begin(); it != blocks.end(); ++it) {
    const Block& block = it->second;
    if (block.live || block.pool != pool || block.bytes < bytes) continue;
    if (is_kept(block)) continue;
    const bool better =
        best == blocks.end() || block.bytes < best->second.bytes ||
        (block.bytes == best->second.bytes && block.freed_epoch > best->second.freed_epoch);
    if (better) best = it;
  }
  return best;
}

void CachingAllocator::State::split(Block& block, std::size_t bytes) {
  if (block.bytes == bytes) return;
  Block rest = block;
  rest.address += bytes;
  rest.bytes -= bytes;
  block.bytes = bytes;
  blocks.emplace(rest.address, rest);
}

void CachingAllocator::State::merge_free(PoolId pool) {
  for (auto it = blocks.begin(); it != blocks.end();) {
    const auto next = std::next(it);
    if (next == blocks.end()) return;
    Block& low = it->second;
    const Block& high = next->second;
    const bool mergeable = !low.live && !high.live && low.pool == pool && high.pool == pool &&
                           low.address + low.bytes == high.address &&
                           !segments.contains(high.address) && !is_kept(low) && !is_kept(high);
    if (!mergeable) {
      it = next;
      continue;
    }
    low.bytes += high.bytes;
    low.allocated_epoch = std::max(low.allocated_epoch, high.allocated_epoch);
    low.freed_epoch = std::max(low.freed_epoch, high.freed_epoch);
    blocks.erase(next);
  }
}

CachingAllocator::State::Blocks::iterator CachingAllocator::State::add_segment(PoolId pool,
                                                                               std::size_t bytes) {
  const RelaxedThreadMode relaxed{device};
  const std::size_t size = round_up(bytes, segment_bytes);
  void* memory = device.allocate(size, MemoryKind::kDevice);
  if (keepers != 0) {
    // Fresh zeros would hide what reads before it writes; as an index, this is skipped by most.
    device.fill(fresh.get(), memory, 0xFF, size);
    device.synchronize(fresh.get());
  }
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  segments.emplace(address, memory);
  Block block;
  block.address = address;
  block.bytes = size;
  block.pool = pool;
  return blocks.emplace(address, block).first;
}

CachingAllocator::CachingAllocator(Device& device, std::size_t segment_bytes)
    : state_{std::make_unique<State>(device, round_up(segment_bytes, kGranule))} {}

CachingAllocator::~CachingAllocator() {
  for (const auto& [address, memory] : state_->segments) state_->device.free(memory);
}

void* CachingAllocator::allocate(std::size_t bytes) {
  const std::size_t size = round_up(bytes, kGranule);
  auto found = state_->best_free(state_->current, size);
  if (found == state_->blocks.end()) {
    state_->merge_free(state_->current);
    found = state_->best_free(state_->current, size);
  }
  if (found == state_->blocks.end()) found = state_->add_segment(state_->current, size);
  Block& block = found->second;
  state_->split(block, size);
  block.live = true;
  block.allocated_epoch = ++state_->epoch;
  block.freed_epoch = 0;
  return reinterpret_cast<void*>(block.address);
}

void CachingAllocator::free(void* address) {
  const auto found = state_->blocks.find(reinterpret_cast<std::uint64_t>(address));
  if (found == state_->blocks.end() || !found->second.live) {
    throw DeviceError{ErrorKind::kInvalidArgument, "free: no live block begins at this address"};
  }
  found->second.live = false;
  found->second.freed_epoch = ++state_->epoch;
}

PoolId CachingAllocator::create_pool() { return PoolId{++state_->pools}; }

void CachingAllocator::begin_pool(PoolId pool) {
  if (pool.value == 0 || pool.value > state_->pools) {
    throw DeviceError{ErrorKind::kInvalidArgument, "begin_pool: create_pool() did not give it"};
  }
  if (state_->current != PoolId{}) {
    throw DeviceError{ErrorKind::kInvalidArgument, "begin_pool: another pool has not ended"};
  }
  state_->current = pool;
}

void CachingAllocator::end_pool() {
  if (state_->current == PoolId{}) {
    throw DeviceError{ErrorKind::kInvalidArgument, "end_pool: no pool has begun"};
  }
  state_->current = PoolId{};
}

void CachingAllocator::begin_keeping() {
  if (state_->keepers++ == 0) state_->kept_since = state_->epoch;
  if (!state_->fresh) state_->fresh = state_->device.create_stream();
}

void CachingAllocator::end_keeping() { --state_->keepers; }

std::uint64_t CachingAllocator::epoch() const noexcept { return state_->epoch; }

std::vector<Block> CachingAllocator::snapshot() const {
  std::vector<Block> blocks;
  blocks.reserve(state_->blocks.size());
  for (const auto& [address, block] : state_->blocks) blocks.push_back(block);
  return blocks;
}

std::optional<Block> CachingAllocator::find(std::uint64_t address) const {
  auto after = state_->blocks.upper_bound(address);
  if (after == state_->blocks.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (address >= block.address + block.bytes) return std::nullopt;
  return block;
}

}  // namespace graphsan::device
