#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

bool left_something(const Facts& facts) {
  return std::any_of(
      facts.capture_changes.begin(), facts.capture_changes.end(),
      [](const model::CaptureChange& change) { return !change.overwritten_by_history; });
}

/// What differs in the carried pass, where capture's leavings stay, and not in the local one.
std::vector<RowKey> carried_only(const Facts& facts) {
  std::set<RowKey> local;
  std::set<RowKey> carried;
  for (const model::OutputDifference& output : facts.outputs) {
    (output.carried ? carried : local)
        .insert({output.step, output.layer, output.lane, diagnose::SpotKind::kOutput});
  }
  for (const model::TopKDifference& top_k : facts.top_k) {
    (top_k.carried ? carried : local)
        .insert({top_k.step, top_k.layer, top_k.lane, diagnose::SpotKind::kSelection});
  }
  std::vector<RowKey> keys;
  std::set_difference(carried.begin(), carried.end(), local.begin(), local.end(),
                      std::back_inserter(keys));
  return keys;
}

/// Those of the first step and layer: later ones follow from them.
std::vector<RowKey> earliest(std::vector<RowKey> keys) {
  if (keys.empty()) return keys;
  int step = keys.front().step;
  for (const RowKey& key : keys) step = std::min(step, key.step);
  std::erase_if(keys, [&](const RowKey& key) { return key.step != step; });
  return keys;
}

/// Warm-up or capture left persistent state changed, and a live result follows from it.
class CaptureSideEffectProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    if (!left_something(facts)) return {};
    std::vector<RowKey> keys = earliest(carried_only(facts));
    if (keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "capture-side-effect", std::move(keys));
    suspicion.finding.summary =
        "warm-up or capture wrote into the caches, nothing restored them, and a live result "
        "depends on what they left";
    for (const model::CaptureChange& change : facts.capture_changes) {
      if (change.overwritten_by_history) continue;
      suspicion.finding.evidence.push_back(change.note);
      const model::CacheLayout& layout = facts.caches[static_cast<std::size_t>(change.cache)];
      model::Where place;
      place.cache = layout.kind;
      place.layer = layout.layer;
      for (const std::int64_t row : change.rows) {
        place.rows.push_back({layout.page_of(row), layout.slot_of(row)});
      }
      suspicion.finding.where.push_back(std::move(place));
    }
    suspicion.finding.fix =
        "Give warm-up and capture slots of -1 and metadata that make every op skip, or restore the "
        "state that they touched before the first request.";
    confirm_by(suspicion, diagnose::Change::kRestoreAfterCapture);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (left_something(facts)) return std::nullopt;
    return "warm-up and capture left no row of a cache changed that history does not overwrite";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_capture_side_effect_probe() {
  return std::make_unique<CaptureSideEffectProbe>();
}

}  // namespace graphsan::probes
