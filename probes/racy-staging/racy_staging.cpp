#include <fmt/format.h>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// What the replay found in an input is not what the host submitted.
class RacyStagingProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    std::vector<std::string> names;
    for (const model::InputFacts& input : facts.inputs) {
      if (input.submitted_differs) names.push_back(input.name);
    }
    std::vector<RowKey> keys = primary_differences(facts);
    if (names.empty() || keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "racy-staging", std::move(keys));
    suspicion.finding.summary = fmt::format(
        "{} was overwritten while its copy to the device was in flight: the replay reads other "
        "bytes than the host submitted",
        names.front());
    for (const model::InputFacts& input : facts.inputs) {
      if (!input.submitted_differs) continue;
      suspicion.finding.evidence.push_back(fmt::format(
          "the hash of {} on the replay's stream is not that of the bytes submitted{}", input.name,
          input.contents_of_step < 0
              ? std::string{}
              : fmt::format("; it holds what belongs to step {}", input.contents_of_step)));
    }
    suspicion.finding.fix =
        "Stage inputs in pinned memory that is double-buffered, and do not refill a buffer before "
        "the event after its copy (and the replay that reads it) has completed.";
    confirm_by(suspicion, diagnose::Change::kWaitForCopies);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (facts.inputs.empty()) return std::nullopt;
    for (const model::InputFacts& input : facts.inputs) {
      if (input.submitted_differs) return std::nullopt;
    }
    return "every input holds what was submitted for its step when the replay has run";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_racy_staging_probe() {
  return std::make_unique<RacyStagingProbe>();
}

}  // namespace graphsan::probes
