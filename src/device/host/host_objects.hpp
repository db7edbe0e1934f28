#pragma once

#include <memory>

#include "device/host/capture_state.hpp"
#include "device/host/stream_queue.hpp"

namespace graphsan::device::host {

struct HostStream {
  StreamQueue queue;
  std::shared_ptr<CaptureState> capture;  ///< null unless the stream is part of a capture
};

/// An event holds its latest record: a ticket, or a place in a capture, or neither.
struct HostEvent {
  std::shared_ptr<Ticket> ticket;
  std::shared_ptr<CaptureState> capture;
  Frontier nodes;  ///< with `capture`
};

}  // namespace graphsan::device::host
