#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
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

/// Eager itself differs from the reference ops, and the graph agrees with eager.
class WrongEverywhereProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<const model::ReferenceDifference*> differences = wrong(facts);
    if (differences.empty() || !facts.stability.stable || differs(facts)) return {};
    Suspicion suspicion = suspect(facts, "wrong-everywhere", {});
    suspicion.finding.first_step = differences.front()->step;
    suspicion.finding.where = places(facts, differences);
    suspicion.finding.summary =
        "eager is wrong too: it differs from the reference ops on the same inputs, and the graph "
        "gives what eager gives. The graph is not to blame";
    suspicion.finding.evidence.push_back(fmt::format(
        "{} results of eager differ from the reference by more than rounding, first the {} of "
        "layer {} at step {}, lane {}",
        differences.size(), to_string(differences.front()->cache), differences.front()->layer,
        differences.front()->step, differences.front()->lane));
    suspicion.finding.status = model::FindingStatus::kConfirmed;
    suspicion.finding.experiment = "the same inputs and caches given to the reference ops";
    suspicion.finding.fix =
        "Fix the op itself: dtype and layout with which the cache is written and read (e4m3 or "
        "e5m2, token-major or head-major) must be the same on both sides.";
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!facts.reference_ran || !wrong(facts).empty()) return std::nullopt;
    return "eager's rows, selections and outputs are those of the reference ops";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_wrong_everywhere_probe() {
  return std::make_unique<WrongEverywhereProbe>();
}

}  // namespace graphsan::probes
