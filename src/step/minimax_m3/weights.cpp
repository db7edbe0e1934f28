#include "step/minimax_m3/weights.hpp"

#include <fmt/format.h>

#include "step/minimax_m3/input_data.hpp"

namespace graphsan::step::minimax_m3 {

Weights::Weights(device::Device& device, device::StreamRef stream, const Config& config,
                 const BatchPlan& plan)
    : memory{device} {
  const InputData data{config, plan};
  const std::int64_t positions = static_cast<std::int64_t>(plan.table_stride()) * config.page_size;
  const std::vector<std::uint16_t> table = cos_sin_table(positions);
  auto* table_memory = memory.add<std::uint16_t>("rope table", table.size());
  device.copy(stream, table_memory, table.data(), table.size() * sizeof(std::uint16_t));
  cos_sin = table_memory;
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::vector<std::uint16_t> drawn = data.norm_weights(layer);
    auto* made =
        memory.add<std::uint16_t>(fmt::format("layer {} norm weights", layer), drawn.size());
    device.copy(stream, made, drawn.data(), drawn.size() * sizeof(std::uint16_t));
    device.synchronize(stream);
    norm.push_back(made);
  }
  device.synchronize(stream);
}

}  // namespace graphsan::step::minimax_m3
