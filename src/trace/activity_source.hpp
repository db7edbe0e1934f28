#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/node.hpp"
#include "trace/activity.hpp"

namespace graphsan::trace {

/// A trace could not be taken, or is not whole.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where device activity comes from: CUPTI in production, a fixed list in tests.
///
/// Records are already free of CUPTI types; nothing that includes this header sees <cupti.h>.
///
/// As a device's label listener it learns what the work that follows on this thread is called.
class ActivitySource : public device::LabelListener {
 public:
  /// Begins collection. Throws TraceError when the source refuses or is collecting already.
  virtual void start() = 0;
  /// Ends collection; activities are ordered by start time. The traced streams must have been
  /// synchronized. Throws TraceError if the source dropped records: a partial trace would accuse
  /// the wrong kernel.
  [[nodiscard]] virtual std::vector<Activity> stop() = 0;
  /// Without effect where the source cannot join a label to an activity.
  void on_label(const std::string& /*label*/) override {}
  /// The id by which activities name a node of a graph; empty where the source does not know it.
  [[nodiscard]] virtual std::optional<std::uint64_t> node_id(device::NodeRef node) = 0;
};

}  // namespace graphsan::trace
