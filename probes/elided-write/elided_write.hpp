#pragma once

#include "diagnose/probe.hpp"

namespace graphsan::probes {

/// Recognises writes that were never recorded: rows of the slot mapping that eager writes, that no
/// replay writes, and that still hold what was there before.
class ElidedWriteProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::optional<diagnose::Suspicion> recognise(
      const model::Facts& facts) const override;
  [[nodiscard]] diagnose::ExperimentResult confirm(
      const diagnose::Suspicion& suspicion, diagnose::Experiments& experiments) const override;
  [[nodiscard]] std::string experiment_name() const override;
  [[nodiscard]] std::string sham_name() const override;
  [[nodiscard]] std::optional<std::string> rule_out(const model::Facts& facts) const override;
};

}  // namespace graphsan::probes
