#include "device/host/capture_state.hpp"

#include <algorithm>
#include <utility>

namespace graphsan::device::host {

CaptureState::CaptureState(HostStream& origin, CaptureMode mode, std::thread::id thread)
    : origin_{&origin}, mode_{mode}, thread_{thread} {
  frontiers_.emplace(&origin, Frontier{});
}

CaptureStatus CaptureState::status() const noexcept {
  return invalid_because_.empty() ? CaptureStatus::kActive : CaptureStatus::kInvalidated;
}

void CaptureState::invalidate(std::string reason) {
  if (invalid_because_.empty()) invalid_because_ = std::move(reason);
}

void CaptureState::check_valid(const char* call) const {
  if (status() == CaptureStatus::kActive) return;
  throw DeviceError{ErrorKind::kCaptureInvalidated,
                    std::string{call} + ": the capture was spoiled earlier: " + invalid_because_};
}

void CaptureState::add(HostStream& stream, Work work) {
  Frontier& frontier = frontiers_.at(&stream);
  frontier = {graph_->add_node(std::move(work), frontier)};
}

const Frontier& CaptureState::frontier(HostStream& stream) const { return frontiers_.at(&stream); }

void CaptureState::wait(HostStream& stream, std::span<const NodeIndex> nodes) {
  Frontier& frontier = frontiers_[&stream];
  for (const NodeIndex node : nodes) {
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) {
      frontier.push_back(node);
    }
  }
}

void CaptureState::drop(HostStream& stream) { frontiers_.erase(&stream); }

std::vector<HostStream*> CaptureState::streams() const {
  std::vector<HostStream*> members;
  for (const auto& [stream, frontier] : frontiers_) members.push_back(stream);
  return members;
}

std::unique_ptr<HostGraph> CaptureState::end() {
  if (has_unjoined_work())
    invalidate("a forked stream was not joined to the stream it forked from");
  origin_ = nullptr;
  check_valid("end_capture");
  return std::move(graph_);
}

bool CaptureState::has_unjoined_work() const {
  Frontier ends;
  for (const auto& [stream, frontier] : frontiers_) {
    if (stream != origin_) ends.insert(ends.end(), frontier.begin(), frontier.end());
  }
  return !graph_->all_lead_to(ends, frontiers_.at(origin_));
}

}  // namespace graphsan::device::host
