#include "step/minimax_m3/index_key_write.hpp"

#include <algorithm>

#include "step/minimax_m3/cache_address.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, index_k),
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, stride),
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, slots),
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, cache.base),
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, cache.slots),
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(IndexKeyWriteArgs, negative),
};

void scatter(const device::LaunchDims& dims, const IndexKeyWriteArgs& args, std::int64_t from_end) {
  if (args.cache.base == nullptr) return;
  for (std::int64_t t = 0; t < covered_lanes(dims, args.tokens); ++t) {
    const std::int64_t slot = args.slots[t] < 0 ? args.slots[t] + from_end : args.slots[t];
    if (!writes_slot(slot, args.cache.slots)) continue;
    std::copy_n(args.index_k + t * args.stride, kHeadDim, args.cache.base + slot * kHeadDim);
  }
}

void index_key_write_host(const device::LaunchDims& dims, const void* arguments) {
  scatter(dims, *static_cast<const IndexKeyWriteArgs*>(arguments), 0);
}

void index_put_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const IndexKeyWriteArgs*>(arguments);
  scatter(dims, args, args.cache.slots);
}

}  // namespace

const device::Kernel& index_key_write_kernel() {
  static const device::Kernel kernel{"index_key_write", cuda_symbols::index_key_write(),
                                     &index_key_write_host, sizeof(IndexKeyWriteArgs), kFields};
  return kernel;
}

const device::Kernel& index_put_kernel() {
  static const device::Kernel kernel{"index_put", cuda_symbols::index_put(), &index_put_host,
                                     sizeof(IndexKeyWriteArgs), kFields};
  return kernel;
}

void launch_index_key_write(device::Device& device, device::StreamRef stream,
                            const IndexKeyWriteArgs& args) {
  if (args.tokens <= 0) return;
  const device::Kernel& kernel =
      args.negative == NegativeSlot::kWrap ? index_put_kernel() : index_key_write_kernel();
  device.launch(stream, kernel, lane_dims(args.tokens), &args);
}

}  // namespace graphsan::step::minimax_m3
