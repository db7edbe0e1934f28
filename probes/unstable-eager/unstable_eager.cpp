#include <fmt/format.h>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::Suspicion;
using model::Facts;

/// Eager differs from itself: nothing can be said of the graph's values.
class UnstableEagerProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    if (!facts.stability.ran || facts.stability.stable) return {};
    Suspicion suspicion = suspect(facts, "unstable-eager", {});
    std::string names;
    for (const std::string& name : facts.stability.unstable_caches) {
      names += (names.empty() ? "" : ", ") + name;
      if (names.size() > 200) break;
    }
    suspicion.finding.summary =
        "eager does not agree with itself, so no value can be blamed on the graph";
    suspicion.finding.evidence.push_back(fmt::format(
        "two eager passes over the same inputs from the same state differ in {} rows: {}",
        facts.stability.rows_differing, names));
    suspicion.finding.status = model::FindingStatus::kConfirmed;
    suspicion.finding.experiment = "the eager pass repeated from the same state";
    suspicion.finding.fix =
        "Make eager deterministic first: no float atomics, fixed split sizes, no race, state reset "
        "for every request. Rows that are missing or stray stand all the same.";
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!facts.stability.ran || !facts.stability.stable) return std::nullopt;
    return "two eager passes agree bit for bit in every row, selection and output";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_unstable_eager_probe() {
  return std::make_unique<UnstableEagerProbe>();
}

}  // namespace graphsan::probes
