#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

std::vector<const model::InputFacts*> moved(const Facts& facts) {
  std::vector<const model::InputFacts*> inputs;
  for (const model::InputFacts& input : facts.inputs) {
    if (input.captured_address != 0 && input.captured_address != input.replay_address) {
      inputs.push_back(&input);
    }
  }
  return inputs;
}

/// A named input lives at another address than the graph has captured.
class MovedBufferProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<const model::InputFacts*> inputs = moved(facts);
    std::vector<RowKey> keys = primary_differences(facts);
    std::erase_if(keys, [&](const RowKey& key) {
      const model::RowDifference* row = row_of(facts, key);
      return row != nullptr && is_pad_stray(*row);
    });
    if (inputs.empty() || keys.empty()) return {};
    std::vector<std::string> names;
    for (const model::InputFacts* input : inputs) names.push_back(input->name);
    Suspicion suspicion = suspect(facts, "moved-buffer", std::move(keys));
    suspicion.finding.summary = fmt::format(
        "{} is in another buffer at replay than at capture: the graph reads the old one",
        names.front());
    for (const model::InputFacts* input : inputs) {
      suspicion.finding.evidence.push_back(fmt::format(
          "{} was at {:#x} when captured and is at {:#x} in step {}", input->name,
          input->captured_address, input->replay_address, suspicion.finding.first_step));
    }
    for (const NodeUse& use : node_uses(facts)) {
      if (use.use->address != inputs.front()->captured_address) continue;
      suspicion.finding.evidence.push_back(
          fmt::format("node {} {} ({}) still names {:#x} as {}", use.node->id, use.node->name,
                      use.node->source, use.use->address, use.use->field));
      point_to(suspicion.finding, *use.node);
      break;
    }
    suspicion.finding.fix =
        "Copy the new value into the persistent buffer that the graph was captured with; make no "
        "fresh tensor (`.to()`, `.contiguous()`, a new metadata object) between capture and "
        "replay.";
    confirm_by(suspicion, diagnose::Change::kRefreshInputs, names);
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_moved_buffer_probe() {
  return std::make_unique<MovedBufferProbe>();
}

}  // namespace graphsan::probes
