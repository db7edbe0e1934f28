#include <fmt/format.h>

#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

bool is_host(model::OwnerKind owner) {
  return owner == model::OwnerKind::kHostPageable || owner == model::OwnerKind::kHostPinned;
}

/// A copy node reads host memory that changed or died since the capture.
class DeadHostMemoryProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    std::vector<diagnose::NodeOf> nodes;
    std::set<int> layers;
    const NodeUse* first = nullptr;
    const std::vector<NodeUse> uses = node_uses(facts);
    for (const NodeUse& use : uses) {
      if (!use.node->copy || use.use->field != "source" || !is_host(use.use->owner)) continue;
      nodes.push_back(use.place);
      layers.insert(layer_of(use.node->source));
      if (first == nullptr) first = &use;
    }
    if (nodes.empty()) return {};
    std::vector<RowKey> keys = in_layers(facts, primary_differences(facts), layers);
    if (keys.empty()) return {};
    const bool pinned = first->use->owner == model::OwnerKind::kHostPinned;
    Suspicion suspicion = suspect(facts, "dead-host-memory", std::move(keys));
    suspicion.finding.summary =
        fmt::format("a copy node reads {} host memory that no longer holds what it held at capture",
                    pinned ? "pinned" : "pageable");
    suspicion.finding.evidence.push_back(fmt::format(
        "{} copies {} bytes from {} host memory at {:#x}{}; it is read when the graph {}",
        model::with_source(fmt::format("node {}", first->node->id), first->node->source),
        first->node->copy->bytes, pinned ? "pinned" : "pageable", first->use->address,
        first->use->owner_name.empty() ? "" : " (" + first->use->owner_name + ")",
        pinned ? "executes" : "is launched"));
    point_to(suspicion.finding, *first->node);
    suspicion.finding.fix =
        "Keep the source of a captured copy alive and unchanged for the life of the graph: a "
        "persistent pinned buffer that is refilled before each replay, or a kernel argument on the "
        "device. Never a local variable.";
    confirm_by(suspicion, diagnose::Change::kReplaceCopySources, {}, std::move(nodes));
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (facts.segments.empty()) return std::nullopt;
    for (const NodeUse& use : node_uses(facts)) {
      if (use.node->copy && is_host(use.use->owner)) return std::nullopt;
    }
    return "no copy node of the graph names host memory";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_dead_host_memory_probe() {
  return std::make_unique<DeadHostMemoryProbe>();
}

}  // namespace graphsan::probes
