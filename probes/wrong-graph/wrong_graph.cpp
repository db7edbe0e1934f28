#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// Another captured graph of the bucket is the right one for this step.
class WrongGraphProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const auto other =
        std::find_if(facts.other_graphs.begin(), facts.other_graphs.end(),
                     [](const model::OtherGraph& graph) { return !graph.same_structure; });
    std::vector<RowKey> keys = primary_differences(facts);
    if (other == facts.other_graphs.end() || keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "wrong-graph", std::move(keys));
    suspicion.finding.summary =
        "the graph that was replayed belongs to another kind of batch: another graph of the same "
        "bucket gives eager's result";
    suspicion.finding.evidence.push_back(fmt::format(
        "{} other graphs were captured for this bucket; one has {} nodes and another structure",
        facts.other_graphs.size(), other->nodes));
    suspicion.finding.fix =
        "Do not key graphs by batch size alone: put everything into the key that chooses a kernel, "
        "a grid or a path on the host (context length class, prefill or decode, dtype).";
    confirm_by(suspicion, diagnose::Change::kOtherGraph);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (facts.segments.empty() || !facts.other_graphs.empty()) return std::nullopt;
    return "one graph was captured for this bucket: there is no other to choose";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_wrong_graph_probe() {
  return std::make_unique<WrongGraphProbe>();
}

}  // namespace graphsan::probes
