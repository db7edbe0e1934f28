#include "step/minimax_m3/reshape_and_cache.hpp"

#include "step/minimax_m3/argument_fields.hpp"
#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/host_rows.hpp"
#include "step/minimax_m3/host_simd.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, key),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, value),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, key_stride),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, value_stride),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, slots),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, k_scale),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, v_scale),
    GRAPHSAN_KV_CACHE_FIELDS(ReshapeAndCacheArgs, cache),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(ReshapeAndCacheArgs, scale_count),
};

float scale_of(const float* scales, std::int32_t count, std::int32_t head) {
  return scales == nullptr ? 1.0F : scales[count == 1 ? 0 : head];
}

GRAPHSAN_INLINE_BODY void write_token(const ReshapeAndCacheArgs& args, std::int64_t token) {
  const KvCacheArg& cache = args.cache;
  const std::int64_t slot = args.slots[token];
  if (!writes_slot(slot, cache.slots)) return;
  const std::uint16_t* key = args.key + token * args.key_stride;
  const std::uint16_t* value = args.value + token * args.value_stride;
  for (std::int32_t head = 0; head < cache.heads; ++head) {
    const std::int64_t offset = kv_offset(cache, slot, head);
    store_bf16_row(cache.dtype, key + head * kHeadDim,
                   scale_of(args.k_scale, args.scale_count, head), cache.key + offset);
    store_bf16_row(cache.dtype, value + head * kHeadDim,
                   scale_of(args.v_scale, args.scale_count, head), cache.value + offset);
  }
}

GRAPHSAN_TARGET_AVX2 void write_avx2(const ReshapeAndCacheArgs& args, std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t) write_token(args, t);
}

void write_baseline(const ReshapeAndCacheArgs& args, std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t) write_token(args, t);
}

void reshape_and_cache_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const ReshapeAndCacheArgs*>(arguments);
  if (args.cache.key == nullptr) return;
  const auto write = has_avx2() ? &write_avx2 : &write_baseline;
  write(args, covered_lanes(dims, args.tokens));
}

}  // namespace

const device::Kernel& reshape_and_cache_kernel() {
  static const device::Kernel kernel{"reshape_and_cache_flash",
                                     cuda_symbols::reshape_and_cache_flash(),
                                     &reshape_and_cache_host, sizeof(ReshapeAndCacheArgs), kFields};
  return kernel;
}

void launch_reshape_and_cache(device::Device& device, device::StreamRef stream,
                              const ReshapeAndCacheArgs& args) {
  if (args.tokens <= 0) return;
  device.launch(stream, reshape_and_cache_kernel(), lane_dims(args.tokens), &args);
}

}  // namespace graphsan::step::minimax_m3
