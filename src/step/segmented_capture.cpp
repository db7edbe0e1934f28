#include "step/segmented_capture.hpp"

#include <utility>

namespace graphsan::step {

SegmentedCapture::SegmentedCapture(device::Device& device, device::StreamRef stream,
                                   device::CaptureMode mode)
    : device_{&device}, stream_{stream}, mode_{mode} {}

SegmentedCapture::~SegmentedCapture() {
  if (!capturing_) return;
  try {
    static_cast<void>(device_->end_capture(stream_));
  } catch (const device::DeviceError&) {
    // The capture was spoiled, which is why it is being given up.
  }
}

void SegmentedCapture::begin() {
  device_->begin_capture(stream_, mode_);
  capturing_ = true;
}

void SegmentedCapture::break_here(std::string name, std::function<void(device::StreamRef)> op) {
  close_segment(std::move(name), op);
  op(stream_);
  begin();
}

std::vector<SegmentedCapture::Captured> SegmentedCapture::end() {
  close_segment({}, {});
  return std::move(segments_);
}

void SegmentedCapture::close_segment(std::string break_after,
                                     std::function<void(device::StreamRef)> run_break) {
  capturing_ = false;
  Captured made;
  device::Graph graph = device_->end_capture(stream_);
  if (!device_->nodes(graph.get()).empty()) {
    made.exec = device_->instantiate(graph.get());
    made.graph = std::move(graph);
  }
  made.break_after = std::move(break_after);
  made.run_break = std::move(run_break);
  if (made.graph || made.run_break) segments_.push_back(std::move(made));
}

}  // namespace graphsan::step
