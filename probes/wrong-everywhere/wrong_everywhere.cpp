#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/eager_fault.hpp"
#include "probes/differences.hpp"
#include "probes/finding_text.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::Suspicion;
using model::Facts;

/// Differences from the reference that are more than rounding.
std::vector<const model::ReferenceDifference*> wrong(const Facts& facts) {
  std::vector<const model::ReferenceDifference*> differences;
  for (const model::ReferenceDifference& difference : facts.reference) {
    if (difference.value.kind != model::ValueKind::kRounding) differences.push_back(&difference);
  }
  return differences;
}

std::vector<model::Where> places(
    const Facts& facts, const std::vector<const model::ReferenceDifference*>& differences) {
  std::vector<model::Where> where;
  for (const model::ReferenceDifference* difference : differences) {
    auto place = std::find_if(where.begin(), where.end(), [&](const model::Where& one) {
      return one.cache == difference->cache && one.layer == difference->layer;
    });
    if (place == where.end()) {
      where.push_back({});
      place = std::prev(where.end());
      place->cache = difference->cache;
      place->layer = difference->layer;
    }
    const auto cache = std::find_if(
        facts.caches.begin(), facts.caches.end(), [&](const model::CacheLayout& layout) {
          return layout.kind == difference->cache && layout.layer == difference->layer;
        });
    if (difference->row < 0 || cache == facts.caches.end()) {
      place->rows.push_back({0, difference->lane});
    } else {
      place->rows.push_back({cache->page_of(difference->row), cache->slot_of(difference->row)});
    }
  }
  return where;
}

std::string fix_text() {
  return "Fix the op itself: slots, dtype and layout with which the cache is written and read "
         "(e4m3 "
         "or e5m2, token-major or head-major) must be the same on both sides.";
}

Suspicion eager_places(const Facts& facts) {
  Suspicion suspicion = suspect(facts, "wrong-everywhere", {});
  suspicion.finding.first_step = facts.rows.front().step;
  suspicion.finding.where = where_of(facts, facts.rows);
  const bool graph_is_right = model::eager_fault(facts) == model::EagerFault::kNotInGraph;
  suspicion.finding.summary =
      graph_is_right
          ? "eager is wrong: it does not write rows that the slot mapping names, and the graph "
            "does "
            "write them. The graph is not to blame"
          : "eager is wrong too: it does not write the rows that the slot mapping names, and the "
            "graph does what eager does. The graph is not to blame";
  std::size_t missing = 0;
  for (const model::RowDifference& row : facts.rows) {
    missing += row.row_class == model::RowClass::kEagerMissing ? 1 : 0;
  }
  suspicion.finding.evidence.push_back(fmt::format(
      "eager leaves {} rows that the slot mapping names, and writes {} that it does not; the graph "
      "writes {}",
      missing, facts.rows.size() - missing,
      graph_is_right ? "all that it names" : "the same rows with the same bytes"));
  suspicion.finding.status = model::FindingStatus::kConfirmed;
  suspicion.finding.experiment = "eager's write set compared with the slot mapping";
  suspicion.finding.fix = fix_text();
  return suspicion;
}

/// Eager itself differs from the reference ops, and the graph agrees with eager.
class WrongEverywhereProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<const model::ReferenceDifference*> differences = wrong(facts);
    if (!facts.stability.stable) return {};
    if (model::eager_fault(facts) != model::EagerFault::kNone) return {eager_places(facts)};
    if (differences.empty()) return {};
    Suspicion suspicion = suspect(facts, "wrong-everywhere", {});
    suspicion.finding.first_step = differences.front()->step;
    suspicion.finding.where = places(facts, differences);
    suspicion.finding.summary =
        differs(facts)
            ? "eager is wrong by itself: it differs from the reference ops on the same inputs. "
              "What "
              "the graph does differently comes on top"
            : "eager is wrong too: it differs from the reference ops on the same inputs, and the "
              "graph gives what eager gives. The graph is not to blame";
    suspicion.finding.evidence.push_back(fmt::format(
        "{} results of eager differ from the reference by more than rounding, first the {} of "
        "layer {} at step {}, lane {}",
        differences.size(), to_string(differences.front()->cache), differences.front()->layer,
        differences.front()->step, differences.front()->lane));
    suspicion.finding.status = model::FindingStatus::kConfirmed;
    suspicion.finding.experiment = "the same inputs and caches given to the reference ops";
    suspicion.finding.fix = fix_text();
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!facts.reference_ran || !wrong(facts).empty() ||
        model::eager_fault(facts) != model::EagerFault::kNone) {
      return std::nullopt;
    }
    return "eager's rows and selections, and its outputs in the first and the last step, are those "
           "of the reference ops, up to rounding";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_wrong_everywhere_probe() {
  return std::make_unique<WrongEverywhereProbe>();
}

}  // namespace graphsan::probes
