#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cache_store.cuh"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {

__global__ void reshape_and_cache_flash(ReshapeAndCacheArgs args) {
  const std::int64_t token = blockIdx.x;
  const KvCacheArg& cache = args.cache;
  if (token >= args.tokens || cache.key == nullptr) return;
  const std::int64_t slot = args.slots[token];
  if (!writes_slot(slot, cache.slots)) return;
  const std::uint16_t* key = args.key + token * args.key_stride;
  const std::uint16_t* value = args.value + token * args.value_stride;
  for (std::int32_t i = threadIdx.x; i < cache.heads * kHeadDim; i += blockDim.x) {
    const std::int32_t head = i / kHeadDim;
    const std::int32_t scale = args.scale_count == 1 ? 0 : head;
    const std::int64_t offset = kv_offset(cache, slot, head);
    store_bf16_element(cache, cache.key + offset, i % kHeadDim, key[i],
                       args.k_scale == nullptr ? 1.0F : args.k_scale[scale]);
    store_bf16_element(cache, cache.value + offset, i % kHeadDim, value[i],
                       args.v_scale == nullptr ? 1.0F : args.v_scale[scale]);
  }
}

const void* cuda_symbols::reshape_and_cache_flash() {
  return reinterpret_cast<const void*>(&minimax_m3::reshape_and_cache_flash);
}

}  // namespace graphsan::step::minimax_m3
