#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "device/host/host_graph.hpp"

namespace graphsan::device::host {

struct HostStream;

/// The nodes that a stream's next node, or what waits for an event, comes after.
using Frontier = std::vector<NodeIndex>;

/// A capture under way: its graph, and how far each of its streams has come.
class CaptureState {
 public:
  CaptureState(HostStream& origin, CaptureMode mode, std::thread::id thread);

  [[nodiscard]] const HostStream* origin() const noexcept { return origin_; }
  [[nodiscard]] CaptureMode mode() const noexcept { return mode_; }
  [[nodiscard]] std::thread::id thread() const noexcept { return thread_; }
  [[nodiscard]] bool ended() const noexcept { return origin_ == nullptr; }
  [[nodiscard]] CaptureStatus status() const noexcept;

  /// Keeps the first reason; the capture stays open until end().
  void invalidate(std::string reason);
  /// Throws kCaptureInvalidated, with the reason, when the capture was spoiled.
  void check_valid(const char* call) const;

  void add(HostStream& stream, Work work);
  [[nodiscard]] const Frontier& frontier(HostStream& stream) const;
  /// Makes later nodes of `stream` come after `nodes`; a new stream joins the capture.
  void wait(HostStream& stream, std::span<const NodeIndex> nodes);
  /// Takes out a stream that goes away before the capture ends.
  void drop(HostStream& stream);

  [[nodiscard]] std::vector<HostStream*> streams() const;
  /// Ends the capture. Throws kCaptureInvalidated when it was spoiled or when a forked stream has
  /// work that leads to no work of the origin; it has ended then too.
  [[nodiscard]] std::unique_ptr<HostGraph> end();
  /// Ends the capture without a graph.
  void abandon() noexcept { origin_ = nullptr; }

 private:
  [[nodiscard]] bool has_unjoined_work() const;

  HostStream* origin_;
  CaptureMode mode_;
  std::thread::id thread_;
  std::string invalid_because_;
  std::unique_ptr<HostGraph> graph_ = std::make_unique<HostGraph>();
  std::map<HostStream*, Frontier> frontiers_;
};

}  // namespace graphsan::device::host
