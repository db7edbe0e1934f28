#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

std::string fix_text() {
  return "Allocate before capture and keep alive as long as the graph lives, or allocate inside "
         "the "
         "capture from the graph's own pool.";
}

/// What the graph leaves in those layers in the first step that it replays.
std::vector<RowKey> results_in(const Facts& facts, const std::set<int>& layers) {
  std::vector<RowKey> keys;
  const auto replayed = std::find_if(facts.steps.begin(), facts.steps.end(),
                                     [](const model::StepFacts& step) { return step.covered; });
  if (replayed == facts.steps.end()) return keys;
  for (const model::WriteSets& sets : facts.writes) {
    const int layer = facts.caches[static_cast<std::size_t>(sets.cache)].layer;
    if (sets.step != replayed->step || !layers.contains(layer)) continue;
    for (const std::int64_t row : sets.graph) keys.push_back({sets.step, sets.cache, row});
  }
  for (const int layer : layers) {
    for (int lane = 0; lane < replayed->tokens; ++lane) {
      keys.push_back({replayed->step, layer, lane, diagnose::SpotKind::kOutput});
    }
  }
  return keys;
}

/// The graph names memory that was freed since, and may be used by others.
class FreedMemoryProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<NodeUse> uses = lost_uses(facts);
    if (uses.empty()) return {};
    std::set<int> layers;
    for (const NodeUse& use : uses) layers.insert(layer_of(use.node->source));
    std::vector<RowKey> keys = in_layers(facts, primary_differences(facts), layers);
    const bool bites = !keys.empty();
    if (!bites && differs(facts)) return {};
    Suspicion suspicion = suspect(facts, "freed-memory", std::move(keys));
    const NodeUse& first = uses.front();
    suspicion.finding.summary =
        fmt::format("node {} {} names memory that was freed after the capture{}", first.node->id,
                    first.node->name, bites ? "" : "; nothing has been put there yet");
    suspicion.finding.evidence.push_back(lost_text(first));
    if (uses.size() > 1) {
      suspicion.finding.evidence.push_back(
          fmt::format("{} operands in all name memory that was freed", uses.size()));
    }
    suspicion.finding.fix = fix_text();
    point_to(suspicion.finding, *first.node);
    if (bites) {
      confirm_by(suspicion, diagnose::Change::kKeepFreed);
    } else {
      suspicion.rows = results_in(facts, layers);
      confirm_by(suspicion, diagnose::Change::kPoisonFreed);
      suspicion.refutable = false;
    }
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_freed_memory_probe() {
  return std::make_unique<FreedMemoryProbe>();
}

}  // namespace graphsan::probes
