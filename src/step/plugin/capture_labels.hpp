#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "device/handles.hpp"
#include "step/step.hpp"

namespace graphsan::step::plugin {

/// Learns from a plug-in's label() calls which of its lines made which node of a capture, also
/// where somebody else launched the work: what a graph has gained between two labels is the earlier
/// one's.
///
/// Knows no device: whoever calls says what a stream captures into, and which nodes that has.
class CaptureLabels {
 public:
  /// Forgets everything, before a capture.
  void clear();
  /// What the stream's capture has gained since the last label within it, on whatever stream, gets
  /// that label; what follows gets `source`, or none. `graph` is null while the stream captures
  /// nothing, and `nodes` is empty then: the label holds for what it captures later.
  void label(device::StreamRef stream, device::GraphRef graph,
             std::span<const device::NodeRef> nodes, const std::optional<std::string>& source);
  /// No stream has a label any more.
  void end_labels() { open_.clear(); }
  /// A graph whose capture the step has ended: what it gained after the last label within it gets
  /// that label.
  void finish(device::GraphRef graph, std::span<const device::NodeRef> nodes);

  /// The stream's label.
  [[nodiscard]] std::optional<std::string> source(device::StreamRef stream) const;
  /// Streams that have a label.
  [[nodiscard]] std::vector<device::StreamRef> streams() const;
  [[nodiscard]] const NodeLabels& labels() const { return labels_; }

 private:
  /// Gives the nodes that were not there before to `source`.
  void take(std::span<const device::NodeRef> nodes, const std::optional<std::string>& source);

  std::map<void*, std::string> open_;  ///< by stream
  /// By graph: the last label that was given within it, or that none holds.
  std::map<void*, std::optional<std::string>> last_;
  std::set<void*> seen_;  ///< nodes
  NodeLabels labels_;
};

}  // namespace graphsan::step::plugin
