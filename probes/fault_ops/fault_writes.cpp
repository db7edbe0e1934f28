#include "probes/fault_ops/fault_writes.hpp"

#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::InsertContext;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::NegativeSlot;

std::shared_ptr<const step::minimax_m3::InsertPath> separate_writes(
    step::minimax_m3::Config config) {
  config.write_path = step::minimax_m3::WritePath::kTwoStep;
  return step::minimax_m3::make_insert_path(config);
}

void write_main_from(const InsertContext& context, const std::int64_t* slots,
                     const MainSource& source) {
  const std::int64_t k_offset = static_cast<std::int64_t>(context.heads.q) * kHeadDim;
  const std::int64_t v_offset = k_offset + static_cast<std::int64_t>(context.heads.kv) * kHeadDim;
  const bool in_qkv = source.key == nullptr;
  step::minimax_m3::launch_reshape_and_cache(
      context.device, context.stream,
      {.key = in_qkv ? context.qkv + k_offset : source.key,
       .value = context.qkv + v_offset,
       .key_stride = in_qkv ? context.row_width : source.key_stride,
       .value_stride = context.row_width,
       .slots = slots,
       .k_scale = source.k_scale,
       .v_scale = source.v_scale,
       .cache = context.cache,
       .tokens = context.tokens,
       .scale_count = 1});
}

void pack_heads(const InsertContext& context, std::int32_t first_head, std::int32_t heads,
                std::uint16_t* packed) {
  step::minimax_m3::launch_contiguous(
      context.device, context.stream,
      {.source = context.qkv + static_cast<std::int64_t>(first_head) * kHeadDim,
       .source_stride = context.row_width,
       .destination = packed,
       .tokens = context.tokens,
       .width = heads * kHeadDim});
}

void write_packed_index(const InsertContext& context, const std::uint16_t* packed,
                        const std::int64_t* slots) {
  step::minimax_m3::launch_index_key_write(context.device, context.stream,
                                           {.index_k = packed,
                                            .stride = kHeadDim,
                                            .slots = slots,
                                            .cache = context.index_cache,
                                            .tokens = context.tokens,
                                            .negative = NegativeSlot::kSkip});
}

}  // namespace graphsan::faults
