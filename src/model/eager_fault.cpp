#include "model/eager_fault.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace graphsan::model {

namespace {

/// The sequence of a lane; the lane itself where the step does not say.
int sequence_of(const Facts& facts, int step, int lane) {
  const auto found = std::find_if(facts.steps.begin(), facts.steps.end(),
                                  [step](const StepFacts& one) { return one.step == step; });
  const auto at = static_cast<std::size_t>(lane);
  if (found == facts.steps.end() || at >= found->lanes.size()) return lane;
  return found->lanes[at].sequence;
}

bool is_left_out(const RowDifference& row) { return row.row_class == RowClass::kEagerMissing; }

/// Selections and outputs that differ belong to sequences whose rows eager left out.
bool follows_from_rows(const Facts& facts) {
  std::set<std::pair<int, int>> short_of;  // step, sequence
  for (const RowDifference& row : facts.rows) {
    short_of.insert({row.step, sequence_of(facts, row.step, row.lane)});
  }
  const auto follows = [&](const auto& difference) {
    return difference.carried ||
           short_of.contains(
               {difference.step, sequence_of(facts, difference.step, difference.lane)});
  };
  return std::all_of(facts.top_k.begin(), facts.top_k.end(), follows) &&
         std::all_of(facts.outputs.begin(), facts.outputs.end(), follows);
}

}  // namespace

EagerFault eager_fault(const Facts& facts) {
  if (facts.rows.empty() || facts.rows_dropped != 0) return EagerFault::kNone;
  const std::vector<WriteSets>& writes = facts.writes;
  if (std::all_of(facts.rows.begin(), facts.rows.end(), is_left_out) &&
      std::all_of(writes.begin(), writes.end(),
                  [](const WriteSets& sets) { return sets.graph == sets.expected; })) {
    return follows_from_rows(facts) ? EagerFault::kNotInGraph : EagerFault::kNone;
  }
  const bool same_rows = std::all_of(
      writes.begin(), writes.end(), [](const WriteSets& sets) { return sets.eager == sets.graph; });
  const bool eager_only =
      std::all_of(facts.rows.begin(), facts.rows.end(), [](const RowDifference& row) {
        return is_left_out(row) ||
               (row.row_class == RowClass::kEagerStray && row.eager == row.graph);
      });
  const bool same = same_rows && eager_only && facts.top_k.empty() && facts.outputs.empty();
  return same ? EagerFault::kSameInGraph : EagerFault::kNone;
}

}  // namespace graphsan::model
