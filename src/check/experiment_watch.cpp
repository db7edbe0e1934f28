#include "check/experiment_watch.hpp"

#include <utility>

#include "device/error.hpp"

namespace graphsan::check {

std::string experiment_name(int experiment) {
  if (experiment == kWriterSearch) return "prefix replay";
  return std::string{diagnose::name_of(static_cast<diagnose::Change>(experiment))};
}

void WatchedExperiments::begin(int experiment) {
  if (before_first_) std::exchange(before_first_, nullptr)();
  under_way_ = experiment;
  if (watch_->on_begin) watch_->on_begin(experiment);
}

void WatchedExperiments::end() {
  under_way_.reset();
  if (watch_->on_end) watch_->on_end();
}

diagnose::ExperimentResult WatchedExperiments::run(const diagnose::Intervention& intervention,
                                                   std::span<const diagnose::RowKey> rows) {
  const int experiment = static_cast<int>(intervention.change);
  const auto left_out = watch_->left_out.find(experiment);
  if (left_out != watch_->left_out.end()) return diagnose::NotRunnable{left_out->second};
  begin(experiment);
  try {
    diagnose::ExperimentResult result = inner_->run(intervention, rows);
    end();
    return result;
  } catch (const device::DeviceError& error) {
    if (error.kind() != device::ErrorKind::kSticky) end();
    throw;
  }
}

std::optional<diagnose::Writer> WatchedExperiments::writer_of(const diagnose::RowKey& row) {
  if (watch_->left_out.contains(kWriterSearch)) return std::nullopt;
  begin(kWriterSearch);
  try {
    std::optional<diagnose::Writer> writer = inner_->writer_of(row);
    end();
    return writer;
  } catch (const device::DeviceError& error) {
    if (error.kind() != device::ErrorKind::kSticky) end();
    throw;
  }
}

}  // namespace graphsan::check
