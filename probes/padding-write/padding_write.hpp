#pragma once

#include "diagnose/probe.hpp"

namespace graphsan::probes {

/// Recognises pad lanes that write: rows outside the slot mapping that change only where the bucket
/// is not full.
class PaddingWriteProbe final : public diagnose::Probe {
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
