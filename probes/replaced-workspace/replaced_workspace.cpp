#include <fmt/format.h>

#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// The block was free when the capture ended, and is known by the name of what had it.
bool had_a_holder(const model::AddressUse& use) {
  return use.captured_owner == model::OwnerKind::kFreeBlock && !use.captured_owner_name.empty();
}

/// Lost memory for which eager names a named buffer: a holder that lives on elsewhere.
std::vector<NodeUse> replaced(const Facts& facts) {
  std::vector<NodeUse> uses;
  for (const NodeUse& use : lost_uses(facts)) {
    const bool holder =
        had_a_holder(*use.use) || use.use->captured_owner == model::OwnerKind::kNamedBuffer ||
        (use.launched != nullptr && use.launched->owner == model::OwnerKind::kNamedBuffer);
    if (holder) uses.push_back(use);
  }
  return uses;
}

std::string holder_of(const NodeUse& use) {
  if (had_a_holder(*use.use) || use.use->captured_owner == model::OwnerKind::kNamedBuffer) {
    return use.use->captured_owner_name;
  }
  return use.launched->owner_name;
}

/// The graph names memory of a long-lived holder that was replaced after the capture.
class ReplacedWorkspaceProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<NodeUse> uses = replaced(facts);
    if (uses.empty()) return {};
    std::set<int> layers;
    for (const NodeUse& use : uses) layers.insert(layer_of(use.node->source));
    std::vector<RowKey> keys = in_layers(facts, primary_differences(facts), layers);
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "replaced-workspace", std::move(keys));
    const NodeUse& first = uses.front();
    suspicion.finding.summary = fmt::format(
        "{} was replaced after the capture: the graph still uses the memory that it had then",
        holder_of(first));
    suspicion.finding.evidence.push_back(lost_text(first));
    suspicion.finding.evidence.push_back(
        fmt::format("{} lives on elsewhere: it is what eager passes as {}", holder_of(first),
                    first.use->field));
    point_to(suspicion.finding, *first.node);
    suspicion.finding.fix =
        "Give workspaces and pools their final size before the first capture, or capture again "
        "after replacing one; keep the old one alive as long as a graph names it.";
    confirm_by(suspicion, diagnose::Change::kKeepFreed);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (facts.segments.empty() || !replaced(facts).empty()) return std::nullopt;
    return "every named buffer that the graph names is still where it was at capture";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_replaced_workspace_probe() {
  return std::make_unique<ReplacedWorkspaceProbe>();
}

}  // namespace graphsan::probes
