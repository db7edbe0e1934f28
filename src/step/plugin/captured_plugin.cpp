#include "step/plugin/captured_plugin.hpp"

#include <utility>

namespace graphsan::step::plugin {

void CapturedPlugin::add(int bucket, std::vector<SegmentedCapture::Captured> segments,
                         const std::shared_ptr<const NodeLabels>& labels) {
  owned_.push_back(std::move(segments));
  for (const SegmentedCapture::Captured& one : owned_.back()) {
    segments_[bucket].push_back(
        {one.graph.get(), one.exec.get(), one.break_after, one.run_break, labels});
  }
}

std::vector<Segment>& CapturedPlugin::adopt(int bucket, std::unique_ptr<Release> release) {
  releases_.push_back(std::move(release));
  return segments_[bucket];
}

std::span<const Segment> CapturedPlugin::segments(int step) const {
  const model::StepFacts& batch = batches_->at(static_cast<std::size_t>(step));
  const auto found = segments_.find(batch.bucket);
  if (!batch.covered || found == segments_.end()) return {};
  return found->second;
}

int CapturedPlugin::bucket(int step) const {
  return batches_->at(static_cast<std::size_t>(step)).bucket;
}

}  // namespace graphsan::step::plugin
