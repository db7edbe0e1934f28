#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "diagnose/experiments.hpp"

namespace graphsan::check {

/// Experiments of one case that may each cost a run of it before it goes without any.
inline constexpr std::size_t kMostLeftOut = 6;

/// Which experiment: the change, and what it is made to. The search for a row's writer is one.
[[nodiscard]] std::string name_of(const diagnose::Intervention& intervention);
inline constexpr const char* kWriterSearch = "prefix replay";

/// Who is told of a case's experiments, so that one that ends the process costs itself and not the
/// verdict.
struct ExperimentWatch {
  /// Experiments that are not tried, by name_of(), and why: each has ended a run of this case.
  std::map<std::string, std::string> left_out;
  std::function<void(const std::string& experiment)> on_begin = nullptr;
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
  [[nodiscard]] const std::optional<std::string>& under_way() const { return under_way_; }

 private:
  void begin(const std::string& experiment);
  void end();

  diagnose::Experiments* inner_;
  const ExperimentWatch* watch_;
  std::function<void()> before_first_;
  std::optional<std::string> under_way_;
};

}  // namespace graphsan::check
