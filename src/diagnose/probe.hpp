#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/experiments.hpp"
#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::diagnose {

/// What a recogniser sees in the facts: a finding not yet confirmed, and the rows it explains.
struct Suspicion {
  model::Finding finding;
  std::vector<RowKey> rows;
};

/// One mechanism. recognise() and rule_out() are pure functions of the facts.
class Probe {
 public:
  virtual ~Probe() = default;
  [[nodiscard]] virtual std::optional<Suspicion> recognise(const model::Facts& facts) const = 0;
  /// Runs the experiment that confirms the suspicion and writes its outcome into the finding.
  [[nodiscard]] virtual ExperimentResult confirm(const Suspicion& suspicion,
                                                 Experiments& experiments) const = 0;
  /// Names the intervention of confirm(), for the report.
  [[nodiscard]] virtual std::string experiment_name() const = 0;
  [[nodiscard]] virtual std::string sham_name() const = 0;
  /// Why this mechanism does not explain a divergence, with the fact that shows it; empty where the
  /// facts do not say. Asked only of probes that had no suspicion.
  [[nodiscard]] virtual std::optional<std::string> rule_out(const model::Facts& facts) const = 0;
  /// As rule_out(), by an experiment; asked where the facts do not say and a step can be rerun.
  [[nodiscard]] virtual std::optional<std::string> rule_out(const model::Facts& facts,
                                                            Experiments& experiments) const;
};

/// What `explain` prints of a mechanism.
struct MechanismText {
  std::string id;
  std::string title;  ///< one line
  std::string text;   ///< what it is, how it shows, how it is confirmed, how to fix it
};

/// Probes by mechanism id, in the order they are asked.
class ProbeRegistry {
 public:
  /// Throws std::logic_error when the id is taken.
  void add(MechanismText text, std::unique_ptr<Probe> probe);
  [[nodiscard]] const Probe* find(std::string_view id) const;
  [[nodiscard]] const MechanismText* text(std::string_view id) const;
  [[nodiscard]] std::span<const std::string> ids() const { return order_; }

 private:
  struct Entry {
    MechanismText text;
    std::unique_ptr<Probe> probe;
  };
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<std::string> order_;
};

}  // namespace graphsan::diagnose
