#include <fmt/format.h>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// A host value is baked into arguments, a copy's address or the grid.
class FrozenScalarProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const FrozenWords words = frozen_words(facts);
    if (words.nodes.empty()) return {};
    std::vector<RowKey> keys = in_layers(facts, primary_differences(facts), words.layers);
    diagnose::Change change = diagnose::Change::kPatchScalars;
    std::string_view how = "at first hand";
    if (keys.empty() && words.scalars) {
      // Earlier damage spoils the layer as well: the word cannot make it right, but it may move it.
      keys = in_layers(facts, consequent_values(facts), words.layers);
      change = diagnose::Change::kTryScalars;
      how = "where earlier damage reaches too";
    }
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "frozen-scalar", std::move(keys), how);
    suspicion.finding.summary =
        fmt::format("{} of {} is the capture's: every replay uses that value, whatever the batch",
                    words.fields.front(), words.first->name);
    suspicion.finding.evidence.insert(suspicion.finding.evidence.end(), words.evidence.begin(),
                                      words.evidence.end());
    point_to(suspicion.finding, *words.first);
    suspicion.finding.fix =
        "Pass values that change from step to step through device buffers that are refilled in "
        "place; size grids and copies for the bucket and let the kernel look at the live length.";
    confirm_by(suspicion, change, words.fields, words.nodes);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!knows_arguments(facts) || !frozen_words(facts).nodes.empty()) return std::nullopt;
    return facts.padded_launches_captured
               ? "grids, scalars and copies of every node are those of a second capture, of the "
                 "step's own batch"
               : "grids, scalars and copies of every node are those of the same batch run eagerly";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_frozen_scalar_probe() {
  return std::make_unique<FrozenScalarProbe>();
}

}  // namespace graphsan::probes
