#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// Nodes that no path orders touch one buffer, and one of them writes it.
/// Some kernel may touch memory that no pair of nodes was compared for: its arguments could not be
/// read, or name memory whose extent nobody knows.
bool hides_operands(const Facts& facts) {
  const auto hides = [](const model::Work& node) {
    if (node.type != model::NodeType::kKernel) return false;
    const bool unknown = std::any_of(
        node.addresses.begin(), node.addresses.end(),
        [](const model::AddressUse& use) { return use.address != 0 && use.block == 0; });
    return unknown || node.arguments.empty();
  };
  return std::any_of(
      facts.segments.begin(), facts.segments.end(), [&](const model::GraphSegment& segment) {
        const bool branches =
            std::any_of(segment.edges.begin(), segment.edges.end(),
                        [](const model::GraphEdge& edge) { return edge.to != edge.from + 1; });
        return branches && std::any_of(segment.nodes.begin(), segment.nodes.end(), hides);
      });
}

class MissingDependencyProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    if (facts.unordered.empty()) return {};
    const model::UnorderedPair& pair = facts.unordered.front();
    const auto& nodes = facts.segments[static_cast<std::size_t>(pair.segment)].nodes;
    const model::Work& first = nodes[static_cast<std::size_t>(pair.first)];
    const model::Work& second = nodes[static_cast<std::size_t>(pair.second)];
    std::vector<RowKey> keys = primary_differences(facts);
    const bool bites = !keys.empty();
    if (!bites && (differs(facts) || !pair.declared)) return {};
    Suspicion suspicion = suspect(facts, "missing-dependency", std::move(keys));
    suspicion.finding.summary =
        fmt::format("{} and {} both touch {}, one {} it, and no edge orders them{}", first.name,
                    second.name, pair.buffer, pair.declared ? "writes" : "may write",
                    bites ? "" : "; the replays happen to agree");
    for (const model::UnorderedPair& one : facts.unordered) {
      const auto& all = facts.segments[static_cast<std::size_t>(one.segment)].nodes;
      const model::Work& a = all[static_cast<std::size_t>(one.first)];
      const model::Work& b = all[static_cast<std::size_t>(one.second)];
      suspicion.finding.evidence.push_back(
          fmt::format("no path between node {} {} and node {} {}; both name {}", a.id,
                      model::with_source(a.name, a.source), b.id,
                      model::with_source(b.name, b.source), one.buffer));
      if (suspicion.finding.evidence.size() == 4) break;
    }
    suspicion.finding.fix =
        "Record an event after the writer and let the reader's stream wait for it: join side "
        "streams before the first reader, not at the end of the step.";
    if (bites) {
      point_to(suspicion.finding, first);
      confirm_by(suspicion, diagnose::Change::kSerialise);
      // A pair that conflicts stays a hazard, whatever else spoils the rows.
      suspicion.refutable = !pair.declared;
    } else {
      suspicion.finding.not_runnable =
          "all replays agree: an order that shows the damage did not come up";
    }
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (facts.segments.empty() || !facts.unordered.empty() || hides_operands(facts)) {
      return std::nullopt;
    }
    return "edges order every two nodes that touch one buffer which one of them writes";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_missing_dependency_probe() {
  return std::make_unique<MissingDependencyProbe>();
}

}  // namespace graphsan::probes
