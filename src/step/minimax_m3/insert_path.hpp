#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/caching_allocator.hpp"
#include "device/device.hpp"
#include "model/facts.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// What the framework knows of a batch beside the tensors: absent in a profiling run and in a
/// piecewise capture.
struct Metadata {
  const std::int64_t* slots = nullptr;  ///< device array
  std::int32_t length = 0;              ///< entries of `slots`, pads (-1) included
  // What a framework's host code knows of the batch without reading the device.
  int step = -1;                         ///< -1: a dummy batch
  std::int32_t tokens = 0;               ///< real lanes
  std::int64_t max_context = 1;          ///< longest context of a lane, in tokens
  std::span<const model::Lane> lanes{};  ///< the batch, pads included; empty for a dummy one
};

/// Everything that a write path may use for one layer. Host-side values are those at the call, so
/// in a captured graph they are those of the capture.
struct InsertContext {
  device::Device& device;
  device::StreamRef stream;
  device::CachingAllocator& allocator;
  int layer;
  const std::uint16_t* qkv;  ///< [tokens, row width], after norm and rope
  std::int64_t row_width;
  HeadsArg heads;
  std::int32_t tokens;
  const std::int64_t* slots;  ///< the slot mapping passed explicitly, [tokens]
  const Metadata* metadata;   ///< null where there is none
  KvCacheArg cache;           ///< null base: not bound
  IndexCacheArg index_cache;  ///< null base: dense layer, or not bound
};

/// How K, V and index-K of a layer are written after norm and rope. A planted fault brings its own.
class InsertPath {
 public:
  virtual ~InsertPath() = default;
  /// The fused op writes the caches itself and insert() is not called.
  [[nodiscard]] virtual bool writes_in_norm_rope() const { return false; }
  virtual void insert(const InsertContext& context) const = 0;
};

/// The built-in path. bf16 caches with an insert-kv body run fused, as in the seed.
[[nodiscard]] std::shared_ptr<const InsertPath> make_insert_path(const Config& config);

/// Writes K and V with `reshape_and_cache_flash` for `tokens` slots.
void write_main(const InsertContext& context, const std::int64_t* slots, std::int32_t tokens);
/// Writes index-K for `tokens` slots, from a fresh packed copy; nothing on a dense layer.
void write_index(const InsertContext& context, const std::int64_t* slots, std::int32_t tokens,
                 NegativeSlot negative);

}  // namespace graphsan::step::minimax_m3
