#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/caching_allocator.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/segmented_capture.hpp"
#include "step/step.hpp"

namespace graphsan::step::minimax_m3 {

/// The graphs of a MinimaxM3Step: one list of segments for each bucket and preset in use. The step
/// must outlive it: breaks call back into the step.
class CapturedMinimaxM3 final : public CapturedStep {
 public:
  [[nodiscard]] std::span<const Segment> segments(int step) const override;
  [[nodiscard]] int bucket(int step) const override {
    return steps_.at(static_cast<std::size_t>(step)).bucket;
  }

  void add(int bucket, const BreakSet& breaks, CaptureMetadata metadata, int kind,
           std::vector<SegmentedCapture::Captured> segments);
  /// Index of the graph for a key, or -1.
  [[nodiscard]] int find(int bucket, const BreakSet& breaks, CaptureMetadata metadata,
                         int kind) const;
  /// The next step replays graph `index`; -1: it runs eagerly.
  void assign(int bucket, int index) { steps_.push_back({bucket, index}); }

  [[nodiscard]] std::vector<std::span<const Segment>> alternatives(int step) const override;

  device::PoolId graph_pool;
  std::unique_ptr<device::FreedBlocksKept> kept;  ///< where the request asks for it

 private:
  struct Entry {
    int bucket;
    BreakSet breaks;
    CaptureMetadata metadata;
    int kind;
    std::vector<SegmentedCapture::Captured> owned;
    std::vector<Segment> segments;
  };
  struct Assigned {
    int bucket;
    int entry;
  };
  std::vector<Entry> entries_;
  std::vector<Assigned> steps_;
};

}  // namespace graphsan::step::minimax_m3
