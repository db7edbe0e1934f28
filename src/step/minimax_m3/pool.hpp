#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/address_map.hpp"
#include "kvcache/cache_set.hpp"
#include "kvcache/guarded_buffer.hpp"
#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

/// The paged caches of all layers: main K/V in the configured generation and layout, and index-K on
/// sparse layers, each between guard zones.
class Pool {
 public:
  Pool(device::Device& device, device::StreamRef stream, const Config& config,
       const BatchPlan& plan, Conversion conversion, std::string prefix);

  [[nodiscard]] KvCacheArg kv(int layer) const;
  /// Null base on dense layers.
  [[nodiscard]] IndexCacheArg index(int layer) const;
  /// Key, value and index-key of each layer, then all guard zones.
  [[nodiscard]] std::vector<kvcache::CacheView> views() const;
  void describe(device::AddressMap& map) const;
  /// Zero-fills everything and restores the guard zones; asynchronous.
  void reset(device::StreamRef stream);
  /// Copies whole pages of all caches from a pool of the same shape; asynchronous.
  void copy_pages(device::StreamRef stream, const Pool& from,
                  const std::vector<std::int64_t>& pages);

 private:
  struct Layer {
    std::unique_ptr<kvcache::GuardedBuffer> kv;
    std::unique_ptr<kvcache::GuardedBuffer> index;  ///< null on dense layers
  };
  [[nodiscard]] kvcache::CacheView main_view(int layer, model::CacheKind kind) const;
  [[nodiscard]] kvcache::CacheView index_view(int layer) const;

  device::Device* device_;
  Config config_;
  Conversion conversion_;
  std::int64_t pages_;
  std::vector<Layer> layers_;
};

}  // namespace graphsan::step::minimax_m3
