#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "diagnose/experiments.hpp"

namespace graphsan::test {

/// An outcome by its numbers.
inline diagnose::Outcome outcome_of(std::uint64_t rows, std::uint64_t right, std::uint64_t in_sham,
                                    int repeats = 2) {
  diagnose::Outcome outcome;
  outcome.rows = rows;
  outcome.right_with_change = right;
  outcome.right_in_sham = in_sham;
  outcome.repeats = repeats;
  return outcome;
}

/// Experiments whose results a test chooses by name (`live-metadata`, `fill-bucket`, `poison`,
/// `serialise`, `second-capture`); the others cannot be run. Remembers the rows asked about.
class FakeExperiments final : public diagnose::Experiments {
 public:
  using Answer = std::function<diagnose::ExperimentResult()>;

  FakeExperiments& answer(const std::string& name, diagnose::ExperimentResult result) {
    return answer_by(name, [result] { return result; });
  }
  FakeExperiments& answer_by(const std::string& name, Answer answer) {
    answers_[name] = std::move(answer);
    return *this;
  }
  [[nodiscard]] bool asked(const std::string& name) const { return rows_.contains(name); }
  [[nodiscard]] const std::vector<diagnose::RowKey>& rows(const std::string& name) const {
    return rows_.at(name);
  }

  [[nodiscard]] diagnose::ExperimentResult capture_with_live_metadata(
      std::span<const diagnose::RowKey> rows) override {
    return run("live-metadata", rows);
  }
  [[nodiscard]] diagnose::ExperimentResult fill_bucket(
      std::span<const diagnose::RowKey> rows) override {
    return run("fill-bucket", rows);
  }
  [[nodiscard]] diagnose::ExperimentResult poison_pad_lanes(
      std::span<const diagnose::RowKey> rows) override {
    return run("poison", rows);
  }
  [[nodiscard]] diagnose::ExperimentResult serialise(
      std::span<const diagnose::RowKey> rows) override {
    return run("serialise", rows);
  }
  [[nodiscard]] diagnose::ExperimentResult second_capture() override {
    return run("second-capture", {});
  }

 private:
  diagnose::ExperimentResult run(const std::string& name, std::span<const diagnose::RowKey> rows) {
    rows_[name].assign(rows.begin(), rows.end());
    const auto found = answers_.find(name);
    if (found == answers_.end()) return diagnose::NotRunnable{"not in this test"};
    return found->second();
  }

  std::map<std::string, Answer> answers_;
  std::map<std::string, std::vector<diagnose::RowKey>> rows_;
};

}  // namespace graphsan::test
