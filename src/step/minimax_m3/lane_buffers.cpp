#include "step/minimax_m3/lane_buffers.hpp"

#include <fmt/format.h>

#include "step/minimax_m3/attention.hpp"

namespace graphsan::step::minimax_m3 {

LaneBuffers::LaneBuffers(device::Device& device, const Config& config, const BatchPlan& plan,
                         int capacity_lanes, const std::string& prefix)
    : capacity{capacity_lanes}, memory{device} {
  const auto lanes = static_cast<std::size_t>(capacity);
  for (int layer = 0; layer < config.layers; ++layer) {
    const bool sparse = is_sparse_layer(layer, config.layers);
    const HeadsArg heads = heads_for(config.tp, sparse);
    const auto width = static_cast<std::size_t>(row_width(heads));
    const auto q_width = static_cast<std::size_t>(heads.q) * kHeadDim;
    const auto name = [&](const char* what) {
      return fmt::format("{} layer {} {}", prefix, layer, what);
    };
    LayerBuffers made;
    made.base = memory.add<std::uint16_t>(name("input"), lanes * width);
    made.qkv = memory.add<std::uint16_t>(name("qkv"), lanes * width);
    made.q = memory.add<std::uint16_t>(name("q"), lanes * q_width);
    made.out = memory.add<std::uint16_t>(name("output"), lanes * q_width);
    if (sparse) {
      const auto index_heads = static_cast<std::size_t>(heads.index_q);
      made.index_q = memory.add<std::uint16_t>(name("index-q"), lanes * index_heads * kHeadDim);
      made.scores = memory.add<float>(
          name("scores"), index_heads * lanes * static_cast<std::size_t>(plan.max_blocks()));
      made.top_k = memory.add<std::int32_t>(
          name("top-k"), index_heads * lanes * static_cast<std::size_t>(config.top_k));
    }
    layers.push_back(made);
  }
  positions = memory.add<std::int64_t>(prefix + " positions", lanes);
  slots = memory.add<std::int64_t>(prefix + " slot mapping", lanes);
  lane_sequence = memory.add<std::int32_t>(prefix + " lane sequence", lanes);
  seq_lens = memory.add<std::int32_t>(prefix + " sequence lengths", lanes);
  attention_scratch = memory.add<float>(
      prefix + " attention scratch",
      static_cast<std::size_t>(attention_scratch_floats(capacity, heads_for(config.tp, false).q,
                                                        plan.table_stride(), config.page_size)));
  block_table = memory.add<std::int32_t>(prefix + " block table", plan.block_table().size());
}

}  // namespace graphsan::step::minimax_m3
