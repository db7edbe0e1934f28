#include "probes/fault_ops/fault_program.hpp"

namespace graphsan::faults {

using step::minimax_m3::HeadsArg;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::OpContext;

namespace {

HeadSlice slice(const OpContext& context, std::int64_t first_head, std::int64_t heads) {
  return {context.lanes.layers[static_cast<std::size_t>(context.layer)].qkv + first_head * kHeadDim,
          step::minimax_m3::row_width(heads_of(context)), heads * kHeadDim};
}

}  // namespace

HeadSlice key_slice(const OpContext& context) {
  const HeadsArg heads = heads_of(context);
  return slice(context, heads.q, heads.kv);
}

HeadSlice value_slice(const OpContext& context) {
  const HeadsArg heads = heads_of(context);
  return slice(context, heads.q + heads.kv, heads.kv);
}

HeadSlice index_key_slice(const OpContext& context) {
  const HeadsArg heads = heads_of(context);
  return slice(context, heads.q + 2 * heads.kv + heads.index_q, heads.index_k);
}

HeadSlice output_slice(const OpContext& context) {
  const std::int64_t width = static_cast<std::int64_t>(heads_of(context).q) * kHeadDim;
  return {context.lanes.layers[static_cast<std::size_t>(context.layer)].out, width, width};
}

}  // namespace graphsan::faults
