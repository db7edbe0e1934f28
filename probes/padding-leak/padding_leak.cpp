#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// What differs at first hand and shows in the padded batch run eagerly too, strays apart.
std::vector<RowKey> shared_with_padding(const Facts& facts) {
  std::vector<RowKey> keys = primary_differences(facts);
  std::erase_if(keys, [&](const RowKey& key) {
    const model::RowDifference* row = row_of(facts, key);
    if (row != nullptr) {
      return row->row_class != model::RowClass::kWrongValue || !row->padded_eager_shows_it;
    }
    const auto shows = [&](const auto& differences) {
      return std::any_of(differences.begin(), differences.end(), [&](const auto& difference) {
        return !difference.carried && difference.step == key.step &&
               difference.layer == key.cache && difference.lane == key.row &&
               difference.padded_eager_shows_it;
      });
    };
    return key.kind == diagnose::SpotKind::kOutput ? !shows(facts.outputs) : !shows(facts.top_k);
  });
  return keys;
}

bool is_padded(const Facts& facts) {
  return std::any_of(facts.steps.begin(), facts.steps.end(), [](const model::StepFacts& step) {
    return step.covered && step.bucket > step.tokens;
  });
}

/// Bytes of pad lanes reach the rows or results of real ones.
class PaddingLeakProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    if (!is_padded(facts)) return {};
    std::vector<RowKey> keys = shared_with_padding(facts);
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "padding-leak", std::move(keys));
    suspicion.finding.summary =
        "what pad lanes hold reaches real lanes: their values enter something that is shared, such "
        "as a maximum, a scale or a sum";
    suspicion.finding.evidence.push_back(
        "the same padded batch run eagerly gives the same bytes: padding, not capture, brings it "
        "about");
    suspicion.finding.fix =
        "Mask pad lanes out of every reduction over lanes (amax, sums, softmax over lanes), or "
        "fill "
        "them with values that cannot matter; multiplying a NaN by zero does not mask it.";
    confirm_by(suspicion, diagnose::Change::kPoisonPadLanes);
    confirm_by(suspicion, diagnose::Change::kFillBucket);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!facts.padded_eager_ran || !is_padded(facts)) return std::nullopt;
    if (!shared_with_padding(facts).empty()) return std::nullopt;
    return "no real lane that differs holds what the padded batch run eagerly gives";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_padding_leak_probe() {
  return std::make_unique<PaddingLeakProbe>();
}

}  // namespace graphsan::probes
