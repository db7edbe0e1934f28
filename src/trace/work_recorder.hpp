#pragma once

#include <span>
#include <utility>
#include <vector>

#include "device/node.hpp"
#include "model/graph.hpp"

namespace graphsan::trace {

/// Keeps every launch, copy and fill that passes through a device while it is the device's
/// listener.
///
/// Set it with Device::set_work_listener() and remove it before it dies. Grows until take() or
/// clear().
class WorkRecorder final : public device::WorkListener {
 public:
  void on_work(const device::WorkRecord& record) override { records_.push_back(record); }

  /// In issue order, eager and captured work alike.
  [[nodiscard]] std::span<const device::WorkRecord> records() const noexcept { return records_; }
  /// The records so far; the recorder is empty afterwards.
  [[nodiscard]] std::vector<device::WorkRecord> take() noexcept {
    return std::exchange(records_, {});
  }
  void clear() noexcept { records_.clear(); }

 private:
  std::vector<device::WorkRecord> records_;
};

/// The work that ran when it was issued, such as the launches of an eager step or of the breaks of
/// a replay, as values numbered from 0 in issue order.
[[nodiscard]] std::vector<model::Work> eager_work(std::span<const device::WorkRecord> records);

/// The records that a capture took, in issue order; what walk_graph() wants beside the graph.
[[nodiscard]] std::vector<device::WorkRecord> captured_records(
    std::span<const device::WorkRecord> records);

}  // namespace graphsan::trace
