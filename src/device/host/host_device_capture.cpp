// Events, captures, and what captures forbid.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "device/host/host_device_class.hpp"

namespace graphsan::device::host {
namespace {

[[noreturn]] void throw_invalid(const std::string& what) {
  throw DeviceError{ErrorKind::kInvalidArgument, what};
}

std::string mode_name(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::kGlobal:
      return "global";
    case CaptureMode::kThreadLocal:
      return "thread-local";
    case CaptureMode::kRelaxed:
      return "relaxed";
  }
  return "unknown";
}

}  // namespace

Event HostDevice::create_event() {
  check_usable("create_event");
  return Event{*this, events_.add(std::make_unique<HostEvent>())};
}

void HostDevice::destroy(EventRef event) noexcept { static_cast<void>(events_.take(event)); }

void HostDevice::record(EventRef event, StreamRef stream) {
  check_usable("record");
  HostEvent& target = events_.get("record", event);
  HostStream& source = streams_.get("record", stream);
  if (source.capture == nullptr) {
    target = HostEvent{source.queue.push_record(), nullptr, {}};
    return;
  }
  source.capture->check_valid("record");
  target = HostEvent{nullptr, source.capture, source.capture->frontier(source)};
}

void HostDevice::wait(StreamRef stream, EventRef event) {
  check_usable("wait");
  HostStream& target = streams_.get("wait", stream);
  const HostEvent& awaited = events_.get("wait", event);
  if (awaited.capture != nullptr) return join_capture(target, awaited);
  if (target.capture != nullptr) target.capture->check_valid("wait");
  if (awaited.ticket == nullptr) return;
  if (target.capture != nullptr) {
    refuse("wait", *target.capture, "the event was recorded outside the capture");
  }
  target.queue.push(AwaitTicket{awaited.ticket});
}

void HostDevice::join_capture(HostStream& stream, const HostEvent& event) {
  CaptureState& capture = *event.capture;
  if (stream.capture != nullptr && stream.capture != event.capture) {
    if (!capture.ended()) capture.invalidate("wait: it would have merged with another capture");
    refuse("wait", *stream.capture, "the event was recorded in another capture");
  }
  if (capture.ended()) throw_invalid("wait: the event was recorded in a capture that has ended");
  capture.check_valid("wait");
  capture.wait(stream, event.nodes);
  stream.capture = event.capture;
}

double HostDevice::elapsed_ms(EventRef begin, EventRef end) {
  check_usable("elapsed_ms");
  const HostEvent& first = events_.get("elapsed_ms", begin);
  const HostEvent& last = events_.get("elapsed_ms", end);
  check_unsafe_call("elapsed_ms");
  for (const HostEvent* event : {&first, &last}) {
    if (event->capture != nullptr) refuse("elapsed_ms", *event->capture, "an event was captured");
    if (event->ticket == nullptr || !event->ticket->reached()) {
      throw_invalid("elapsed_ms: an event was not recorded, or its work has not run");
    }
  }
  return std::chrono::duration<double, std::milli>{last.ticket->time - first.ticket->time}.count();
}

void HostDevice::begin_capture(StreamRef stream, CaptureMode mode) {
  check_usable("begin_capture");
  HostStream& origin = streams_.get("begin_capture", stream);
  if (origin.capture != nullptr) throw_invalid("begin_capture: the stream is capturing already");
  origin.capture = std::make_shared<CaptureState>(origin, mode, std::this_thread::get_id());
  captures_.push_back(origin.capture);
}

Graph HostDevice::end_capture(StreamRef stream) {
  const HostStream& origin = streams_.get("end_capture", stream);
  const std::shared_ptr<CaptureState> capture = origin.capture;
  if (capture == nullptr) throw_invalid("end_capture: the stream is not capturing");
  if (capture->origin() != &origin) {
    refuse("end_capture", *capture, "the capture was begun on another stream");
  }
  if (capture->mode() != CaptureMode::kRelaxed && capture->thread() != std::this_thread::get_id()) {
    refuse("end_capture", *capture, "the capture was begun by another thread");
  }
  close(*capture);
  return Graph{*this, graphs_.add(capture->end())};
}

void HostDevice::close(const CaptureState& capture) {
  for (HostStream* member : capture.streams()) member->capture = nullptr;
  std::erase_if(captures_, [&capture](const auto& open) { return open.get() == &capture; });
  if (!captures_.empty()) return;
  for (void* address : std::exchange(kept_, {})) release(address);
}

void HostDevice::abandon_captures_of(HostStream& stream) {
  const std::shared_ptr<CaptureState> capture = stream.capture;
  if (capture == nullptr) return;
  capture->invalidate("a stream of the capture was destroyed");
  if (capture->origin() != &stream) return capture->drop(stream);
  close(*capture);
  capture->abandon();
}

CaptureStatus HostDevice::capture_status(StreamRef stream) const {
  const HostStream& target = streams_.get("capture_status", stream);
  return target.capture == nullptr ? CaptureStatus::kNone : target.capture->status();
}

CaptureMode HostDevice::exchange_thread_mode(CaptureMode mode) {
  const CaptureMode previous = thread_mode();
  thread_modes_[std::this_thread::get_id()] = mode;
  return previous;
}

CaptureMode HostDevice::thread_mode() const {
  const auto found = thread_modes_.find(std::this_thread::get_id());
  return found == thread_modes_.end() ? CaptureMode::kGlobal : found->second;
}

bool HostDevice::is_forbidden_by(const CaptureState& capture) const {
  const CaptureMode own = thread_mode();
  if (own == CaptureMode::kRelaxed) return false;
  if (capture.thread() == std::this_thread::get_id()) {
    return capture.mode() != CaptureMode::kRelaxed;
  }
  return own == CaptureMode::kGlobal && capture.mode() == CaptureMode::kGlobal;
}

bool HostDevice::spoil_forbidding_captures(const char* call) {
  bool spoiled = false;
  for (const auto& capture : captures_) {
    if (!is_forbidden_by(*capture)) continue;
    capture->invalidate(std::string{call} + " is forbidden in a capture in " +
                        mode_name(capture->mode()) + " mode");
    spoiled = true;
  }
  return spoiled;
}

void HostDevice::check_unsafe_call(const char* call) {
  if (!spoil_forbidding_captures(call)) return;
  throw DeviceError{ErrorKind::kCaptureRefused,
                    std::string{call} +
                        ": forbidden while a stream captures in global or "
                        "thread-local mode; the capture is invalid now"};
}

void HostDevice::refuse(const char* call, CaptureState& capture, const std::string& reason) {
  const std::string what = std::string{call} + ": " + reason;
  capture.invalidate(what);
  throw DeviceError{ErrorKind::kCaptureRefused, what + "; the capture is invalid now"};
}

}  // namespace graphsan::device::host
