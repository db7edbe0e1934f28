#include "step/minimax_m3/attention.hpp"

#include <stdexcept>
#include <string>

#include "step/minimax_m3/argument_fields.hpp"
#include "step/minimax_m3/attention_host.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, q),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, out),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, top_k),
    GRAPHSAN_READ_KV_CACHE_FIELDS(AttentionArgs, cache),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, k_scale),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, v_scale),
    GRAPHSAN_CONTEXT_FIELDS(AttentionArgs, context),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, tokens_stride),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, q_heads),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, k),
    GRAPHSAN_ARGUMENT_FIELD(AttentionArgs, scratch),
};

void check_shape(const AttentionArgs& args) {
  if (args.cache.heads > 0 && args.q_heads % args.cache.heads == 0 &&
      args.q_heads / args.cache.heads <= kMaxGroup) {
    return;
  }
  throw std::invalid_argument{"attention: " + std::to_string(args.q_heads) +
                              " query heads cannot share " + std::to_string(args.cache.heads) +
                              " KV heads"};
}

bool uses_splits(const device::Device& device, const AttentionArgs& args) {
  return args.scratch != nullptr && device.properties().kind == device::DeviceKind::kCuda &&
         attention_splits(args.context.table_stride, args.context.page_size) > 1;
}

}  // namespace

const device::Kernel& sparse_attention_kernel() {
  static const device::Kernel kernel{"sparse_attention", cuda_symbols::sparse_attention(),
                                     &attention_host, sizeof(AttentionArgs), kFields};
  return kernel;
}

const device::Kernel& dense_attention_kernel() {
  static const device::Kernel kernel{"dense_attention", cuda_symbols::dense_attention(),
                                     &attention_host, sizeof(AttentionArgs), kFields};
  return kernel;
}

const device::Kernel& dense_attention_split_kernel() {
  static const device::Kernel kernel{"dense_attention_split", cuda_symbols::dense_attention_split(),
                                     nullptr, sizeof(AttentionArgs), kFields};
  return kernel;
}

const device::Kernel& dense_attention_combine_kernel() {
  static const device::Kernel kernel{"dense_attention_combine",
                                     cuda_symbols::dense_attention_combine(), nullptr,
                                     sizeof(AttentionArgs), kFields};
  return kernel;
}

void launch_attention(device::Device& device, device::StreamRef stream, const AttentionArgs& args) {
  if (args.tokens <= 0) return;
  check_shape(args);
  const auto kv_heads = static_cast<std::uint32_t>(args.cache.heads);
  if (args.top_k != nullptr) {
    device.launch(stream, sparse_attention_kernel(), lane_dims(args.tokens, kv_heads), &args);
  } else if (uses_splits(device, args)) {
    const std::int64_t splits = attention_splits(args.context.table_stride, args.context.page_size);
    device.launch(stream, dense_attention_split_kernel(),
                  lane_dims(args.tokens, kv_heads, static_cast<std::uint32_t>(splits)), &args);
    device.launch(stream, dense_attention_combine_kernel(),
                  lane_dims(args.tokens, static_cast<std::uint32_t>(args.q_heads)), &args);
  } else {
    device.launch(stream, dense_attention_kernel(), lane_dims(args.tokens, kv_heads), &args);
  }
}

}  // namespace graphsan::step::minimax_m3
