#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "step/minimax_m3/op_args.hpp"
#include "tests/support/device_arena.hpp"

namespace graphsan::test {

/// How K and V of a page lie in memory.
enum class KvArrangement : std::uint8_t {
  kNhd,         ///< [page, K|V, slot, head, 128]
  kHnd,         ///< [page, K|V, head, slot, 128]
  kInterleaved  ///< [page, head, slot, K|V, 128]
};

/// A main K/V cache on a device with a copy on the host, both filled with 0xFF at first.
class KvPool {
 public:
  KvPool(DeviceArena& arena, model::DType dtype, std::int64_t pages, std::int32_t page_size,
         std::int32_t heads, KvArrangement arrangement = KvArrangement::kNhd)
      : arena_{&arena}, element_{dtype == model::DType::kBf16 ? 2 : 1} {
    using step::minimax_m3::kHeadDim;
    const std::int64_t run = kHeadDim * element_;
    const std::int64_t half = page_size * heads * run;
    std::int64_t value_offset = half;
    arg.page_stride = 2 * half;
    arg.slot_stride = heads * run;
    arg.head_stride = run;
    if (arrangement == KvArrangement::kHnd) {
      arg.slot_stride = run;
      arg.head_stride = page_size * run;
    } else if (arrangement == KvArrangement::kInterleaved) {
      value_offset = run;
      arg.slot_stride = 2 * run;
      arg.head_stride = page_size * 2 * run;
    }
    bytes.assign(static_cast<std::size_t>(pages * 2 * half), std::byte{0xFF});
    arg.key = arena.make<std::byte>(bytes.size());
    arg.value = arg.key + value_offset;
    arg.slots = pages * page_size;
    arg.page_size = page_size;
    arg.heads = heads;
    arg.dtype = dtype;
    arg.conversion = step::minimax_m3::Conversion::kSoftware;
  }

  [[nodiscard]] std::size_t run_bytes() const {
    return static_cast<std::size_t>(step::minimax_m3::kHeadDim * element_);
  }

  /// Run of [slot, head] of K or V in the host copy.
  [[nodiscard]] std::byte* run(bool value, std::int64_t slot, std::int32_t head) {
    return bytes.data() + (value ? arg.value - arg.key : 0) +
           slot / arg.page_size * arg.page_stride + slot % arg.page_size * arg.slot_stride +
           head * arg.head_stride;
  }

  void upload() { arena_->store(arg.key, bytes); }
  void download() { bytes = arena_->download(arg.key, bytes.size()); }

  step::minimax_m3::KvCacheArg arg{};
  std::vector<std::byte> bytes;

 private:
  DeviceArena* arena_;
  std::int64_t element_;
};

}  // namespace graphsan::test
