#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "device/device.hpp"
#include "step/minimax_m3/insert_path.hpp"

namespace graphsan::test {

/// Overwrites the key row of each slot with one byte value; -1 by truncating division is slot -1 of
/// page 0, which lies before the cache.
struct StampArgs {
  const std::int64_t* slots;
  step::minimax_m3::KvCacheArg cache;
  std::int32_t tokens;
  std::uint8_t value;
  bool skip_negative;
};

inline void stamp_rows(const device::LaunchDims&, const void* arguments) {
  const auto& args = *static_cast<const StampArgs*>(arguments);
  for (std::int32_t token = 0; token < args.tokens; ++token) {
    const std::int64_t slot = args.slots[token];
    if (slot < 0 && args.skip_negative) continue;
    const std::int64_t page = slot / args.cache.page_size;
    const std::int64_t offset = slot % args.cache.page_size;
    std::memset(args.cache.key + page * args.cache.page_stride + offset * args.cache.slot_stride,
                args.value, step::minimax_m3::kHeadDim);
  }
}

inline const device::Kernel& stamp_kernel() {
  static const device::Kernel kernel{"stamp_rows", nullptr, &stamp_rows, sizeof(StampArgs), {}};
  return kernel;
}

/// The fixed path.
inline void insert_soundly(const step::minimax_m3::InsertContext& context) {
  step::minimax_m3::write_main(context, context.slots, context.tokens);
  step::minimax_m3::write_index(context, context.slots, context.tokens,
                                step::minimax_m3::NegativeSlot::kSkip);
}

/// The fixed path, and then a pad lane's stamp before the first row of the cache.
class GuardZonePath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    insert_soundly(context);
    // Real lanes are written again by the sound path, so that their rows stay right.
    const StampArgs args{context.slots, context.cache, context.tokens, 0x5A, false};
    context.device.launch(context.stream, stamp_kernel(), {}, &args);
    insert_soundly(context);
  }
};

/// Writes another value each time that the host code runs: two eager passes disagree.
class NoisyPath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    insert_soundly(context);
    const StampArgs args{context.slots, context.cache, context.tokens,
                         static_cast<std::uint8_t>(++calls_ % 64), true};
    context.device.launch(context.stream, stamp_kernel(), {}, &args);
  }

 private:
  mutable unsigned calls_ = 0;
};

/// Noisy, and writes nothing without metadata.
class NoisyElidedPath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext& context) const override {
    if (context.metadata == nullptr) return;
    noisy_.insert(context);
  }

 private:
  NoisyPath noisy_;
};

/// Waits for the stream in the middle of the step, as a `.item()` does.
class SynchronizingPath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    insert_soundly(context);
    context.device.synchronize(context.stream);
  }
};

/// Writes no cache at all, eagerly or captured.
class IdlePath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext&) const override {}
};

/// Zeroes the index-key cache's last row, but only in a run without metadata that no stream
/// captures: a warm-up. No graph holds that write.
class WarmUpWriterPath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    insert_soundly(context);
    const bool captured =
        context.device.capture_status(context.stream) != device::CaptureStatus::kNone;
    if (captured || context.metadata != nullptr || context.index_cache.base == nullptr) return;
    context.device.fill(
        context.stream,
        context.index_cache.base + (context.index_cache.slots - 1) * step::minimax_m3::kHeadDim, 0,
        step::minimax_m3::kHeadDim * sizeof(std::uint16_t));
  }
};

/// Keeps the cache of the last call and writes it even where none is bound.
class ProfilingWriterPath final : public step::minimax_m3::InsertPath {
 public:
  void insert(const step::minimax_m3::InsertContext& context) const override {
    if (context.cache.key != nullptr) {
      last_ = context.cache;
      insert_soundly(context);
    } else if (last_.key != nullptr) {
      context.device.fill(context.stream, last_.key, 0x11, step::minimax_m3::kHeadDim);
    }
  }

 private:
  mutable step::minimax_m3::KvCacheArg last_{};
};

}  // namespace graphsan::test
