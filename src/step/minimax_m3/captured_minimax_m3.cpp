#include "step/minimax_m3/captured_minimax_m3.hpp"

#include <utility>

namespace graphsan::step::minimax_m3 {

std::span<const Segment> CapturedMinimaxM3::segments(int step) const {
  const int entry = steps_.at(static_cast<std::size_t>(step)).entry;
  if (entry < 0) return {};
  return entries_[static_cast<std::size_t>(entry)].segments;
}

void CapturedMinimaxM3::add(int bucket, const BreakSet& breaks, CaptureMetadata metadata,
                            std::vector<SegmentedCapture::Captured> segments) {
  Entry entry{bucket, breaks, metadata, std::move(segments), {}};
  for (const SegmentedCapture::Captured& owned : entry.owned) {
    entry.segments.push_back(
        {owned.graph.get(), owned.exec.get(), owned.break_after, owned.run_break});
  }
  entries_.push_back(std::move(entry));
}

int CapturedMinimaxM3::find(int bucket, const BreakSet& breaks, CaptureMetadata metadata) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.bucket == bucket && entry.breaks == breaks && entry.metadata == metadata) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace graphsan::step::minimax_m3
