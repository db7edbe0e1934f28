#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "diagnose/experiments.hpp"

namespace graphsan::test {

/// An outcome by its numbers.
inline diagnose::Outcome outcome_of(std::uint64_t rows, std::uint64_t hit, std::uint64_t in_sham,
                                    int repeats = 2) {
  diagnose::Outcome outcome;
  outcome.rows = rows;
  outcome.hit_with_change = hit;
  outcome.hit_in_sham = in_sham;
  outcome.repeats = repeats;
  return outcome;
}

/// Experiments whose results a test chooses by change; the others cannot be run. Remembers what was
/// asked, and about which rows.
class FakeExperiments final : public diagnose::Experiments {
 public:
  using Answer = std::function<diagnose::ExperimentResult()>;

  FakeExperiments& answer(diagnose::Change change, diagnose::ExperimentResult result) {
    return answer_by(change, [result] { return result; });
  }
  FakeExperiments& answer_by(diagnose::Change change, Answer answer) {
    answers_[change] = std::move(answer);
    return *this;
  }
  [[nodiscard]] bool asked(diagnose::Change change) const { return rows_.contains(change); }
  /// The rows of the last question about `change`.
  [[nodiscard]] const std::vector<diagnose::RowKey>& rows(diagnose::Change change) const {
    return rows_.at(change);
  }
  /// Everything asked, in order.
  [[nodiscard]] const std::vector<diagnose::Intervention>& questions() const { return questions_; }

  [[nodiscard]] diagnose::ExperimentResult run(const diagnose::Intervention& intervention,
                                               std::span<const diagnose::RowKey> rows) override {
    questions_.push_back(intervention);
    rows_[intervention.change].assign(rows.begin(), rows.end());
    const auto found = answers_.find(intervention.change);
    if (found == answers_.end()) return diagnose::NotRunnable{"not in this test"};
    return found->second();
  }

 private:
  std::map<diagnose::Change, Answer> answers_;
  std::map<diagnose::Change, std::vector<diagnose::RowKey>> rows_;
  std::vector<diagnose::Intervention> questions_;
};

}  // namespace graphsan::test
