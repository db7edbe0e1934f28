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

/// What a recogniser sees in the facts: a finding not yet confirmed, and what it explains.
struct Suspicion {
  model::Finding finding;
  /// The differences that this finding explains at first hand; an experiment must hit them all.
  std::vector<RowKey> rows;
  /// Interventions that confirm it: all must. Empty: the facts alone decide, and the recogniser has
  /// set the finding's status and experiment itself.
  std::vector<Intervention> confirm;
  /// An experiment that ran and did not confirm refutes the suspicion, unless it hit every row and
  /// more than its sham did: it is dropped and listed as ruled out. Otherwise it stays suspected (a
  /// hazard that did not bite shows in no experiment).
  bool refutable = true;
};

/// One mechanism: pure functions of the facts, which know nothing of what was planted.
class Probe {
 public:
  virtual ~Probe() = default;
  [[nodiscard]] virtual std::vector<Suspicion> recognise(const model::Facts& facts) const = 0;
  /// Why this mechanism does not explain a divergence, with the fact that shows it; empty where the
  /// facts do not say. Asked only where nothing was suspected.
  [[nodiscard]] virtual std::optional<std::string> rule_out(const model::Facts&) const {
    return std::nullopt;
  }
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
