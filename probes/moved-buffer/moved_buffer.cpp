#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

/// What differs at first hand, without pad lanes' strays.
std::vector<RowKey> spoiled(const Facts& facts) {
  std::vector<RowKey> keys = primary_differences(facts);
  std::erase_if(keys, [&](const RowKey& key) {
    const model::RowDifference* row = row_of(facts, key);
    return row != nullptr && is_pad_stray(*row);
  });
  return keys;
}

/// A named input lives at another address than the graph has captured.
std::optional<Suspicion> moved_input(const Facts& facts) {
  const std::vector<const model::InputFacts*> inputs = moved(facts);
  std::vector<RowKey> keys = spoiled(facts);
  if (inputs.empty() || keys.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const model::InputFacts* input : inputs) names.push_back(input->name);
  Suspicion suspicion = suspect(facts, "moved-buffer", std::move(keys));
  suspicion.finding.summary =
      fmt::format("{} is in another buffer at replay than at capture: the graph reads the old one",
                  names.front());
  for (const model::InputFacts* input : inputs) {
    suspicion.finding.evidence.push_back(
        fmt::format("{} was at {:#x} when captured and is at {:#x} in step {}", input->name,
                    input->captured_address, input->replay_address, suspicion.finding.first_step));
  }
  for (const NodeUse& use : node_uses(facts)) {
    if (use.use->address != inputs.front()->captured_address) continue;
    suspicion.finding.evidence.push_back(fmt::format(
        "node {} {} still names {:#x} as {}", use.node->id,
        model::with_source(use.node->name, use.node->source), use.use->address, use.use->field));
    point_to(suspicion.finding, *use.node);
    break;
  }
  suspicion.finding.fix =
      "Copy the new value into the persistent buffer that the graph was captured with; make no "
      "fresh tensor (`.to()`, `.contiguous()`, a new metadata object) between capture and "
      "replay.";
  confirm_by(suspicion, diagnose::Change::kRefreshInputs, names);
  return suspicion;
}

/// Memory that the step has not declared, and that no graph's pool holds.
bool is_undeclared(model::OwnerKind owner) {
  return owner == model::OwnerKind::kUnknown || owner == model::OwnerKind::kHostPageable ||
         owner == model::OwnerKind::kOtherAllocation;
}

/// Kernels' pointers to undeclared memory, where the same batch run eagerly passes other memory:
/// what the program computes anew outside of the captured work.
std::vector<NodeUse> undeclared_uses(const Facts& facts) {
  std::vector<NodeUse> uses;
  for (NodeUse& use : node_uses(facts)) {
    if (use.node->type != model::NodeType::kKernel || use.launched == nullptr) continue;
    const bool undeclared = is_undeclared(use.use->owner) &&
                            is_undeclared(use.use->captured_owner) &&
                            is_undeclared(use.launched->owner);
    if (!undeclared || use.use->address == 0 || use.launched->address == 0) continue;
    if (use.use->address != use.launched->address) uses.push_back(use);
  }
  return uses;
}

/// All such pointers are patched at once: a node that writes scratch memory and one that reads it
/// must go on naming the same.
std::optional<Suspicion> moved_undeclared(const Facts& facts) {
  if (!knows_arguments(facts) || facts.padded_launches_captured) return std::nullopt;
  const std::vector<NodeUse> uses = undeclared_uses(facts);
  std::vector<RowKey> keys = spoiled(facts);
  if (uses.empty() || keys.empty()) return std::nullopt;
  Suspicion suspicion = suspect(facts, "moved-buffer", std::move(keys));
  const NodeUse& first = uses.front();
  suspicion.finding.summary = fmt::format(
      "{} of {} is computed outside of the captured work, into another buffer for each step: the "
      "graph reads the one of its capture",
      first.use->field, first.node->name);
  std::vector<std::string> fields;
  std::vector<diagnose::NodeOf> nodes;
  for (const NodeUse& use : uses) {
    suspicion.finding.evidence.push_back(
        fmt::format("node {} {} names {:#x} as {}, which is no declared buffer; the same batch run "
                    "eagerly passes {:#x}",
                    use.node->id, model::with_source(use.node->name, use.node->source),
                    use.use->address, use.use->field, use.launched->address));
    if (std::find(fields.begin(), fields.end(), use.use->field) == fields.end()) {
      fields.push_back(use.use->field);
    }
    if (std::find(nodes.begin(), nodes.end(), use.place) == nodes.end()) {
      nodes.push_back(use.place);
    }
  }
  point_to(suspicion.finding, *first.node);
  suspicion.finding.fix =
      "Compute it inside the captured work, from a buffer that stays where it is; or declare it an "
      "input, and refill one persistent buffer before each replay.";
  confirm_by(suspicion, diagnose::Change::kPatchPointers, fields, nodes);
  return suspicion;
}

/// An input, or what is computed of one, lives at another address than the graph has captured.
class MovedBufferProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    std::vector<Suspicion> suspicions;
    if (auto input = moved_input(facts)) suspicions.push_back(std::move(*input));
    if (auto undeclared = moved_undeclared(facts)) suspicions.push_back(std::move(*undeclared));
    return suspicions;
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_moved_buffer_probe() {
  return std::make_unique<MovedBufferProbe>();
}

}  // namespace graphsan::probes
