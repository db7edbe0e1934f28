#include "check/experiment_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "device/error.hpp"

namespace graphsan::check {

std::string name_of(const diagnose::Intervention& intervention) {
  std::string name{diagnose::name_of(intervention.change)};
  if (!intervention.names.empty())
    name += fmt::format(" ({})", fmt::join(intervention.names, ", "));
  for (const diagnose::NodeOf& node : intervention.nodes) {
    name += fmt::format(", segment {} node {}", node.segment, node.node);
  }
  return name;
}

void WatchedExperiments::begin(const std::string& experiment) {
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
  const std::string experiment = name_of(intervention);
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
