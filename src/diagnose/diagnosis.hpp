#pragma once

#include <string_view>
#include <vector>

#include "diagnose/experiments.hpp"
#include "diagnose/probe.hpp"
#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::diagnose {

struct Diagnosis {
  std::vector<model::Finding> findings;  ///< ordered by what broke first
  std::vector<model::RuledOut> ruled_out;
  std::vector<model::ExperimentRecord> experiments;
  /// Differences at first hand that no finding claims, where there is a finding; ordered.
  std::vector<RowKey> unexplained;
};

/// Asks every probe of the registry in order, confirms each suspicion, and rules out the rest.
///
/// Differences that a confirmed finding explains are not offered to later probes: a suspicion that
/// has no other is dropped. A suspicion that an experiment refutes is listed as ruled out.
///
/// `experiments` null: diagnoses the facts alone, and findings stay suspected for the reason given.
/// A probe or experiment that throws DeviceError costs its own confirmation only, unless the device
/// is lost.
[[nodiscard]] Diagnosis diagnose(
    const model::Facts& facts, const ProbeRegistry& registry, Experiments* experiments,
    std::string_view why_not =
        "no experiment: these are stored facts, and no step is there to run again");

}  // namespace graphsan::diagnose
