#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "diagnose/experiments.hpp"

namespace graphsan::check {

/// What an experiment is called between worker and supervisor: its Change as a number, or the
/// search for a row's writer.
inline constexpr int kWriterSearch = 1000;
[[nodiscard]] std::string experiment_name(int experiment);

/// Experiments of one case that may each cost a run of it before it goes without any.
inline constexpr std::size_t kMostLeftOut = 4;

/// Who is told of a case's experiments, so that one that ends the process costs itself and not the
/// verdict.
struct ExperimentWatch {
  /// Experiments that are not tried, and why: each has ended a process that ran this case.
  std::map<int, std::string> left_out;
  std::function<void(int experiment)> on_begin = nullptr;
  std::function<void()> on_end = nullptr;
};

/// Passes experiments on to the real ones, except for those left out, and keeps which one is under
/// way.
class WatchedExperiments final : public diagnose::Experiments {
 public:
  /// `before_first` is called once, before the first experiment that is tried. All are borrowed.
  WatchedExperiments(diagnose::Experiments& inner, const ExperimentWatch& watch,
                     std::function<void()> before_first)
      : inner_{&inner}, watch_{&watch}, before_first_{std::move(before_first)} {}

  [[nodiscard]] diagnose::ExperimentResult run(const diagnose::Intervention& intervention,
                                               std::span<const diagnose::RowKey> rows) override;
  [[nodiscard]] std::optional<diagnose::Writer> writer_of(const diagnose::RowKey& row) override;

  /// The experiment that began and has not ended: after an exception, the one that threw.
  [[nodiscard]] std::optional<int> under_way() const { return under_way_; }

 private:
  void begin(int experiment);
  void end();

  diagnose::Experiments* inner_;
  const ExperimentWatch* watch_;
  std::function<void()> before_first_;
  std::optional<int> under_way_;
};

}  // namespace graphsan::check
