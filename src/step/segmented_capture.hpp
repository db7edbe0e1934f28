#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "step/step.hpp"

namespace graphsan::step {

/// Captures a stream into segments: a breakable capture ends the segment at a break, runs the op
/// once, and goes on capturing. Segments without nodes are dropped, so consecutive breaks follow
/// each other.
///
/// Between begin() and end() nothing but the caller's own work and the breaks runs.
class SegmentedCapture {
 public:
  SegmentedCapture(device::Device& device, device::StreamRef stream, device::CaptureMode mode);
  /// Ends an open capture and discards it.
  ~SegmentedCapture();
  SegmentedCapture(const SegmentedCapture&) = delete;
  SegmentedCapture& operator=(const SegmentedCapture&) = delete;

  void begin();
  /// Ends the segment, runs `op` once now, and remembers it to be run at each replay.
  void break_here(std::string name, std::function<void(device::StreamRef)> op);

  struct Captured {
    device::Graph graph;
    device::GraphExec exec;
    std::string break_after;
    std::function<void(device::StreamRef)> run_break;
  };
  /// Ends the last segment. A segment whose graph is empty keeps its break but no graph.
  [[nodiscard]] std::vector<Captured> end();

 private:
  void close_segment(std::string break_after, std::function<void(device::StreamRef)> run_break);

  device::Device* device_;
  device::StreamRef stream_;
  device::CaptureMode mode_;
  bool capturing_ = false;
  std::vector<Captured> segments_;
};

}  // namespace graphsan::step
