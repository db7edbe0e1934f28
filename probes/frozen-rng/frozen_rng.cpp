#include <fmt/format.h>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// What differs at first hand, rows that the slot mapping names and outputs alone: draws change
/// values, not places.
std::vector<RowKey> values_only(const Facts& facts) {
  std::vector<RowKey> keys = primary_differences(facts);
  for (const RowKey& key : keys) {
    const model::RowDifference* row = row_of(facts, key);
    if (row != nullptr && row->row_class != model::RowClass::kWrongValue) return {};
  }
  return keys;
}

/// A seed or offset of a generator is the capture's: every replay draws the same numbers.
class FrozenRngProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const FrozenWords words = frozen_words(facts);
    if (words.nodes.empty()) return {};
    std::vector<RowKey> keys = in_layers(facts, values_only(facts), words.layers);
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "frozen-rng", std::move(keys));
    suspicion.finding.summary = fmt::format(
        "{} of {} was read on the host at capture: every replay draws the same random numbers",
        words.fields.front(), words.first->name);
    suspicion.finding.evidence.insert(suspicion.finding.evidence.end(), words.evidence.begin(),
                                      words.evidence.end());
    point_to(suspicion.finding, *words.first);
    suspicion.finding.fix =
        "Read seed and offset from a device buffer that is advanced before each replay, as "
        "frameworks do for generators that are registered with a graph.";
    // A generator that the host advances draws anew where a step is run twice. One that is seeded
    // for each step does not, and shows by its seed alone.
    std::vector<Suspicion> suspicions{suspicion};
    confirm_by(suspicions.back(), diagnose::Change::kDrawAgain);
    if (words.seeds) {
      suspicion.finding.evidence.emplace_back(
          "the frozen words look like mixed seeds: too large for lengths, addresses or numbers");
      suspicions.push_back(std::move(suspicion));
    }
    for (Suspicion& one : suspicions) {
      confirm_by(one, diagnose::Change::kPatchScalars, words.fields, words.nodes);
    }
    return suspicions;
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_frozen_rng_probe() {
  return std::make_unique<FrozenRngProbe>();
}

}  // namespace graphsan::probes
