#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

bool is_tie(const model::TopKDifference& top_k) {
  return !top_k.carried && top_k.kind == model::TopKKind::kTie;
}

/// Every difference of the local pass is a tied selection or comes after one of its lane.
bool only_ties(const Facts& facts) {
  const auto after_tie = [&](int step, int layer, int lane) {
    return std::any_of(
        facts.top_k.begin(), facts.top_k.end(), [&](const model::TopKDifference& top_k) {
          return is_tie(top_k) && top_k.step == step && top_k.layer <= layer && top_k.lane == lane;
        });
  };
  const bool rows =
      std::all_of(facts.rows.begin(), facts.rows.end(), [&](const model::RowDifference& row) {
        return row.row_class == model::RowClass::kWrongValue && is_consequence(facts, row) &&
               after_tie(row.step, facts.caches[static_cast<std::size_t>(row.cache)].layer,
                         row.lane);
      });
  const bool outputs = std::all_of(
      facts.outputs.begin(), facts.outputs.end(), [&](const model::OutputDifference& output) {
        return output.carried || (!output.non_finite && is_consequence(facts, output) &&
                                  after_tie(output.step, output.layer, output.lane));
      });
  const bool selections =
      std::all_of(facts.top_k.begin(), facts.top_k.end(), [&](const model::TopKDifference& top_k) {
        return top_k.carried || is_tie(top_k) || after_tie(top_k.step, top_k.layer - 1, top_k.lane);
      });
  return rows && outputs && selections;
}

/// Selections differ only in blocks whose scores are equal in eager.
class TopkTieProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    std::set<RowKey> ties;
    float margin = 0;
    for (const model::TopKDifference& top_k : facts.top_k) {
      if (!is_tie(top_k)) continue;
      ties.insert({top_k.step, top_k.layer, top_k.lane, diagnose::SpotKind::kSelection});
      margin = std::max(margin, std::abs(top_k.margin));
    }
    if (ties.empty() || !only_ties(facts)) return {};
    Suspicion suspicion = suspect(facts, "topk-tie", {ties.begin(), ties.end()});
    suspicion.finding.summary =
        "selections differ only in blocks that score alike in eager: either choice is right";
    suspicion.finding.evidence.push_back(fmt::format(
        "eager's scores of the swapped blocks differ by {:.3g} at most; two eager passes differ by "
        "{:.3g}",
        margin, facts.stability.max_noise));
    suspicion.finding.status = model::FindingStatus::kConfirmed;
    suspicion.finding.experiment = "eager's scores recomputed by the reference indexer";
    suspicion.finding.fix =
        "Nothing is wrong. Break ties by block id in every path if runs must agree bit for bit.";
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_topk_tie_probe() { return std::make_unique<TopkTieProbe>(); }

}  // namespace graphsan::probes
