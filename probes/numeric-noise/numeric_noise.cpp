#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// Mean relative error of an output up to which it can be rounding carried through a layer.
constexpr double kRoundingError = 0.02;

bool is_noise(const model::OutputDifference& output) {
  return output.padded_eager_shows_it && !output.non_finite && output.mean_rel < kRoundingError;
}

/// Equal write sets, rounding alone in rows and outputs, and all of it in padded-eager too.
bool only_noise(const Facts& facts) {
  const bool rows =
      std::all_of(facts.rows.begin(), facts.rows.end(), [&](const model::RowDifference& row) {
        const bool small =
            row.value.kind == model::ValueKind::kRounding || is_consequence(facts, row);
        return row.row_class == model::RowClass::kWrongValue && row.padded_eager_shows_it && small;
      });
  const bool outputs = std::all_of(
      facts.outputs.begin(), facts.outputs.end(),
      [](const model::OutputDifference& output) { return output.carried || is_noise(output); });
  const bool selections =
      std::all_of(facts.top_k.begin(), facts.top_k.end(), [](const model::TopKDifference& top_k) {
        return top_k.carried || top_k.padded_eager_shows_it;
      });
  return rows && outputs && selections;
}

/// First-hand differences are rounding beside the magnitude of their row or output.
bool starts_as_rounding(const Facts& facts) {
  constexpr std::int64_t kUlp = 2;
  constexpr double kHalfBf16Ulp = 0x1p-8;
  const std::vector<RowKey> keys = primary_differences(facts);
  return !keys.empty() && std::all_of(keys.begin(), keys.end(), [&](const RowKey& key) {
    if (const model::RowDifference* row = row_of(facts, key)) {
      return row->value.kind == model::ValueKind::kRounding;
    }
    return std::any_of(
        facts.outputs.begin(), facts.outputs.end(), [&](const model::OutputDifference& output) {
          return !output.carried && output.step == key.step && output.layer == key.cache &&
                 output.lane == key.row &&
                 (output.max_code_distance <= kUlp || output.mean_rel <= kHalfBf16Ulp);
        });
  });
}

/// Sums in another order, as padding brings them about: rounding, and nothing else.
class NumericNoiseProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    if (!facts.padded_eager_ran || !only_noise(facts) || !starts_as_rounding(facts)) return {};
    Suspicion suspicion = suspect(facts, "numeric-noise", primary_differences(facts));
    suspicion.finding.summary =
        "sums are rounded in another order when the batch is padded: by rounding alone where it "
        "begins, and no row is missing or stray";
    suspicion.finding.evidence.push_back(
        "the same padded batch run eagerly, without a graph, gives the graph's bytes in every row "
        "and output that differ");
    suspicion.finding.fix =
        "Nothing is wrong with the graph. Choose split counts and tile shapes by the bucket in "
        "eager too if runs must agree bit for bit.";
    // That alone exonerates nothing: what a pad lane leaks shows there too.
    confirm_by(suspicion, diagnose::Change::kPadLanesDoNotMatter);
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_numeric_noise_probe() {
  return std::make_unique<NumericNoiseProbe>();
}

}  // namespace graphsan::probes
