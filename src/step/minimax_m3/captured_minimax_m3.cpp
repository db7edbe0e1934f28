#include "step/minimax_m3/captured_minimax_m3.hpp"

#include <utility>

namespace graphsan::step::minimax_m3 {

std::span<const Segment> CapturedMinimaxM3::segments(int step) const {
  const int entry = steps_.at(static_cast<std::size_t>(step)).entry;
  if (entry < 0) return {};
  return entries_[static_cast<std::size_t>(entry)].segments;
}

std::vector<std::span<const Segment>> CapturedMinimaxM3::alternatives(int step) const {
  const int chosen = steps_.at(static_cast<std::size_t>(step)).entry;
  std::vector<std::span<const Segment>> others;
  if (chosen < 0) return others;
  const Entry& replayed = entries_[static_cast<std::size_t>(chosen)];
  for (const Entry& entry : entries_) {
    if (&entry == &replayed || entry.bucket != replayed.bucket) continue;
    others.emplace_back(entry.segments);
  }
  return others;
}

void CapturedMinimaxM3::add(int bucket, const BreakSet& breaks, CaptureMetadata metadata, int kind,
                            std::vector<SegmentedCapture::Captured> segments) {
  Entry entry{bucket, breaks, metadata, kind, std::move(segments), {}};
  for (const SegmentedCapture::Captured& owned : entry.owned) {
    entry.segments.push_back(
        {owned.graph.get(), owned.exec.get(), owned.break_after, owned.run_break});
  }
  entries_.push_back(std::move(entry));
}

int CapturedMinimaxM3::find(int bucket, const BreakSet& breaks, CaptureMetadata metadata,
                            int kind) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.bucket == bucket && entry.breaks == breaks && entry.metadata == metadata &&
        entry.kind == kind) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace graphsan::step::minimax_m3
