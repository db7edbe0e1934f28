#include "step/plugin/capture_labels.hpp"

namespace graphsan::step::plugin {

namespace {

void set_or_erase(std::map<void*, std::string>& labels, void* key,
                  const std::optional<std::string>& source) {
  if (source) {
    labels[key] = *source;
  } else {
    labels.erase(key);
  }
}

}  // namespace

void CaptureLabels::clear() {
  open_.clear();
  last_.clear();
  seen_.clear();
  labels_.clear();
}

void CaptureLabels::take(std::span<const device::NodeRef> nodes,
                         const std::optional<std::string>& source) {
  for (const device::NodeRef& node : nodes) {
    if (seen_.insert(node.raw).second && source) labels_[node.raw] = *source;
  }
}

void CaptureLabels::label(device::StreamRef stream, device::GraphRef graph,
                          std::span<const device::NodeRef> nodes,
                          const std::optional<std::string>& source) {
  // Streams that a capture forks share its graph: what came last within it made what it gained. The
  // first label within a graph may have been given before the capture began.
  const auto last = graph ? last_.find(graph.raw) : last_.end();
  if (last != last_.end()) {
    take(nodes, last->second);
  } else {
    take(nodes, this->source(stream));
  }
  set_or_erase(open_, stream.raw, source);
  if (graph) last_[graph.raw] = source;
}

void CaptureLabels::finish(device::GraphRef graph, std::span<const device::NodeRef> nodes) {
  const auto last = last_.find(graph.raw);
  if (last != last_.end()) take(nodes, last->second);
}

std::optional<std::string> CaptureLabels::source(device::StreamRef stream) const {
  const auto found = open_.find(stream.raw);
  if (found == open_.end()) return std::nullopt;
  return found->second;
}

std::vector<device::StreamRef> CaptureLabels::streams() const {
  std::vector<device::StreamRef> streams;
  for (const auto& [stream, source] : open_) streams.push_back(device::StreamRef{stream});
  return streams;
}

}  // namespace graphsan::step::plugin
