#include <fmt/format.h>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

std::vector<std::string> drifted(const Facts& facts) {
  std::vector<std::string> names;
  for (const model::OpaqueFacts& state : facts.opaque) {
    if (state.differs_from_start) names.push_back(state.name);
  }
  return names;
}

/// State that eager host code resets and the graph does not: the first replay is right, later ones
/// are not.
class MissingResetProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<std::string> names = drifted(facts);
    std::vector<RowKey> keys = primary_differences(facts);
    if (names.empty() || keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "missing-reset", std::move(keys));
    suspicion.finding.summary = fmt::format(
        "{} is not reset by the graph: the first replay finds it clean, later ones do not",
        names.front());
    suspicion.finding.evidence.push_back(fmt::format(
        "before the replay of step {}, {} does not hold what it held before the first replay",
        suspicion.finding.first_step, names.front()));
    suspicion.finding.fix =
        "Reset counters and flags inside the graph: record the memset on the capturing stream, or "
        "let the last thread block of the kernel put them back.";
    confirm_by(suspicion, diagnose::Change::kRestoreOpaque, names);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    for (const model::OpaqueFacts& state : facts.opaque) {
      if (state.differs_from_start) return std::nullopt;
    }
    if (facts.opaque.empty()) return std::nullopt;
    return "no declared state changes from replay to replay";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_missing_reset_probe() {
  return std::make_unique<MissingResetProbe>();
}

}  // namespace graphsan::probes
