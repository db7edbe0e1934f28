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

/// What differs in the layers of nodes that name a buffer which the escaped work writes.
std::vector<RowKey> behind_buffers(const Facts& facts) {
  std::set<int> layers;
  for (const NodeUse& use : node_uses(facts)) {
    const std::string& name = use.use->owner_name;
    const bool escaped = !name.empty() && std::any_of(facts.escaped.begin(), facts.escaped.end(),
                                                      [&](const model::Work& work) {
                                                        return writes_buffer(work, name);
                                                      });
    if (escaped) layers.insert(layer_of(use.node->source));
  }
  return in_layers(facts, primary_differences(facts), layers);
}

/// The differences that lie in caches which the escaped work writes; where it writes none of them,
/// the outputs and selections.
std::vector<RowKey> left_unwritten(const Facts& facts) {
  std::vector<RowKey> rows;
  std::vector<RowKey> others;
  for (const RowKey& key : primary_differences(facts)) {
    if (key.kind != diagnose::SpotKind::kRow) {
      others.push_back(key);
      continue;
    }
    const std::string& buffer = facts.cache_buffers[static_cast<std::size_t>(key.cache)];
    const bool written = !buffer.empty() && std::any_of(facts.escaped.begin(), facts.escaped.end(),
                                                        [&](const model::Work& work) {
                                                          return writes_buffer(work, buffer);
                                                        });
    if (written) rows.push_back(key);
  }
  if (!rows.empty() || !others.empty()) return rows.empty() ? others : rows;
  return behind_buffers(facts);
}

/// Work that was launched while the capture ran, on a stream that took no part in it: no node has
/// it.
class EscapedLaunchProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    if (facts.escaped.empty()) return {};
    std::vector<RowKey> keys = left_unwritten(facts);
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "escaped-launch", std::move(keys));
    const model::Work& work = facts.escaped.front();
    suspicion.finding.summary = fmt::format(
        "{} was launched while the graph was captured, but on a stream outside the capture: no "
        "node has it, and replays leave its results as they were",
        work.name);
    for (const model::Work& escaped : facts.escaped) {
      suspicion.finding.evidence.push_back(
          fmt::format("launched between begin and end of a capture without becoming a node: {}",
                      model::with_source(escaped.name, escaped.source)));
      if (suspicion.finding.evidence.size() == 4) break;
    }
    point_to(suspicion.finding, work);
    for (model::Where& place : suspicion.finding.where) place.node.reset();
    suspicion.finding.fix =
        "Launch on the capturing stream, or fork from it with an event before the launch and join "
        "it before the capture ends. Make the op an eager break where neither can be done.";
    confirm_by(suspicion, diagnose::Change::kRelaunchEscaped);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!facts.escaped.empty() || !knows_arguments(facts)) return std::nullopt;
    return "everything that was launched while a capture ran became a node or ran in a break";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_escaped_launch_probe() {
  return std::make_unique<EscapedLaunchProbe>();
}

}  // namespace graphsan::probes
