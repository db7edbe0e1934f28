#include <fmt/format.h>

#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// Work that one side has and the other has not, by layer.
struct OtherPath {
  std::vector<const model::Alignment*> only_eager;
  std::vector<const model::Alignment*> only_graph;
  std::set<int> layers;
};

OtherPath other_path(const Facts& facts) {
  OtherPath path;
  // A second capture takes the captured path too where the code asks whether it is captured.
  const bool eagerly = facts.padded_alignment.empty() || facts.padded_launches_captured;
  const auto& lines = eagerly ? facts.alignment : facts.padded_alignment;
  for (const model::Alignment& line : lines) {
    if (line.kind == model::AlignmentKind::kMissing) path.only_eager.push_back(&line);
    if (line.kind == model::AlignmentKind::kExtra) path.only_graph.push_back(&line);
    if (line.kind == model::AlignmentKind::kMissing || line.kind == model::AlignmentKind::kExtra) {
      path.layers.insert(layer_of(line.source));
    }
  }
  return path;
}

/// Host code took another path at capture: kernels on both sides that the other has not.
class BranchAtCaptureProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const OtherPath path = other_path(facts);
    if (path.only_graph.empty()) return {};
    std::vector<RowKey> keys = in_layers(facts, primary_differences(facts), path.layers);
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "branch-at-capture", std::move(keys));
    suspicion.finding.summary = fmt::format(
        "host code took another path at capture: the graph has {}, which eager does not run "
        "for this batch",
        model::with_source(path.only_graph.front()->name, path.only_graph.front()->source));
    if (!path.only_eager.empty()) {
      suspicion.finding.evidence.push_back(fmt::format(
          "eager launches {}; the graph has no such node",
          model::with_source(path.only_eager.front()->name, path.only_eager.front()->source)));
    }
    suspicion.finding.evidence.push_back(fmt::format(
        "node {} {} has no launch in eager", path.only_graph.front()->node,
        model::with_source(path.only_graph.front()->name, path.only_graph.front()->source)));
    suspicion.finding.evidence.push_back(
        fmt::format("the graph was captured with metadata: {}", facts.capture_metadata));
    if (const model::Work* node = node_of(facts, *path.only_graph.front())) {
      point_to(suspicion.finding, *node);
    }
    suspicion.finding.fix =
        "Capture with metadata of the lengths that will be replayed, or take the path that is "
        "right "
        "for all of them; choose by values on the device, or key graphs by what the host branch "
        "looks at.";
    confirm_by(suspicion, diagnose::Change::kLiveCapture);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    const OtherPath path = other_path(facts);
    if (facts.alignment.empty() || !path.only_graph.empty()) return std::nullopt;
    return "every node of the graph has a launch of the same kernel in eager";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_branch_at_capture_probe() {
  return std::make_unique<BranchAtCaptureProbe>();
}

}  // namespace graphsan::probes
