#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

std::vector<const model::InputFacts*> stale(const Facts& facts) {
  std::vector<const model::InputFacts*> inputs;
  for (const model::InputFacts& input : facts.inputs) {
    const bool same_place = input.captured_address == input.replay_address;
    if (same_place && !input.contents_equal_eager && !input.submitted_differs) {
      inputs.push_back(&input);
    }
  }
  return inputs;
}

/// A buffer at the right address was not refreshed before the replay.
class StaleContentsProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<const model::InputFacts*> inputs = stale(facts);
    std::vector<RowKey> keys = primary_differences(facts);
    std::erase_if(keys, [&](const RowKey& key) {
      const model::RowDifference* row = row_of(facts, key);
      return row != nullptr && is_pad_stray(*row);
    });
    if (inputs.empty() || keys.empty()) return {};
    std::vector<std::string> names;
    for (const model::InputFacts* input : inputs) names.push_back(input->name);
    Suspicion suspicion = suspect(facts, "stale-contents", std::move(keys));
    suspicion.finding.summary = fmt::format(
        "{} is where the graph reads it, but was not refreshed before the replay", names.front());
    for (const model::InputFacts* input : inputs) {
      suspicion.finding.evidence.push_back(fmt::format(
          "in step {}, {} holds other bytes than eager's at the same address as at capture{}",
          suspicion.finding.first_step, input->name,
          input->contents_of_step < 0
              ? std::string{}
              : fmt::format(": those of step {}", input->contents_of_step)));
    }
    for (const NodeUse& use : node_uses(facts)) {
      if (use.use->address != inputs.front()->captured_address) continue;
      point_to(suspicion.finding, *use.node);
      break;
    }
    suspicion.finding.fix =
        "Refill every buffer that the graph reads before each replay, plan tables and tails "
        "included; run the host `plan()` for replays too.";
    confirm_by(suspicion, diagnose::Change::kRefreshInputs, names);
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_stale_contents_probe() {
  return std::make_unique<StaleContentsProbe>();
}

}  // namespace graphsan::probes
