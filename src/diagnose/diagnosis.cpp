#include "diagnose/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/error.hpp"
#include "diagnose/exclusions.hpp"

namespace graphsan::diagnose {

namespace {

/// Runs a probe's experiment; a device that refuses makes it not runnable, a lost device does not.
ExperimentResult try_confirm(const Probe& probe, const Suspicion& suspicion,
                             Experiments& experiments) {
  try {
    return probe.confirm(suspicion, experiments);
  } catch (const device::DeviceError& error) {
    if (error.kind() == device::ErrorKind::kSticky) throw;
    return NotRunnable{error.what()};
  }
}

void conclude(model::Finding& finding, const Probe& probe, const ExperimentResult& result,
              std::vector<model::ExperimentRecord>& log) {
  model::ExperimentRecord record;
  record.name = probe.experiment_name();
  record.change = probe.experiment_name();
  if (const auto* reason = std::get_if<NotRunnable>(&result)) {
    finding.not_runnable = fmt::format("{}: {}", record.name, reason->reason);
    record.not_runnable = reason->reason;
    log.push_back(std::move(record));
    return;
  }
  const auto& outcome = std::get<Outcome>(result);
  record.repeats = outcome.repeats;
  record.made_right = outcome.confirms();
  record.outcome = fmt::format("{} of {} rows right, {} repeats", outcome.right_with_change,
                               outcome.rows, outcome.repeats);
  record.sham_outcome = fmt::format("{}: {} of {} rows right", probe.sham_name(),
                                    outcome.right_in_sham, outcome.rows);
  finding.evidence.insert(finding.evidence.end(), outcome.observations.begin(),
                          outcome.observations.end());
  if (outcome.confirms()) {
    finding.status = model::FindingStatus::kConfirmed;
    finding.experiment = fmt::format("{}: {}", record.name, record.outcome);
    finding.sham = record.sham_outcome;
  } else {
    finding.not_runnable = fmt::format("{} did not confirm it: {}; {}", record.name, record.outcome,
                                       record.sham_outcome);
  }
  log.push_back(std::move(record));
}

}  // namespace

Diagnosis diagnose(const model::Facts& facts, const ProbeRegistry& registry,
                   Experiments* experiments) {
  Diagnosis diagnosis;
  std::vector<std::string> quiet;
  for (const std::string& id : registry.ids()) {
    const Probe& probe = *registry.find(id);
    std::optional<Suspicion> suspicion = probe.recognise(facts);
    if (!suspicion) {
      quiet.push_back(id);
      continue;
    }
    if (experiments != nullptr) {
      conclude(suspicion->finding, probe, try_confirm(probe, *suspicion, *experiments),
               diagnosis.experiments);
    } else {
      suspicion->finding.not_runnable =
          "no experiment: these are stored facts, and no step is there to run again";
    }
    diagnosis.findings.push_back(std::move(suspicion->finding));
  }
  std::stable_sort(
      diagnosis.findings.begin(), diagnosis.findings.end(),
      [](const model::Finding& a, const model::Finding& b) { return a.first_step < b.first_step; });
  if (diagnosis.findings.empty() && facts.rows.empty() && facts.top_k.empty() &&
      facts.outputs.empty()) {
    return diagnosis;
  }
  for (const std::string& id : quiet) {
    const Probe& probe = *registry.find(id);
    std::optional<std::string> why = probe.rule_out(facts);
    if (!why && experiments != nullptr) why = probe.rule_out(facts, *experiments);
    if (why) diagnosis.ruled_out.push_back({id, std::move(*why)});
  }
  std::vector<model::RuledOut> cleared =
      rule_out_suspects(facts, experiments, diagnosis.experiments);
  std::move(cleared.begin(), cleared.end(), std::back_inserter(diagnosis.ruled_out));
  return diagnosis;
}

}  // namespace graphsan::diagnose
