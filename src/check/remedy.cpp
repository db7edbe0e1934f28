#include "check/remedy.hpp"

namespace graphsan::check {

namespace {

/// Every eager pass and the capture have gone through when a replay begins.
bool is_replay(model::Phase phase) {
  return phase == model::Phase::kReplay || phase == model::Phase::kCarried;
}

constexpr const char* kGoneMemory =
    "eager and the capture went through and a replay did not: look for memory that the graph names "
    "and that is gone or elsewhere when it is replayed (a tensor freed after capture, a host array "
    "on a stack, a buffer made anew)";

}  // namespace

std::string remedy_for(device::ErrorKind kind, model::Phase phase, bool foreign) {
  switch (kind) {
    case device::ErrorKind::kOutOfMemory:
      if (foreign) return "give the step smaller buffers, or a device with more memory";
      return "use fewer tokens, layers or a shorter context";
    case device::ErrorKind::kCaptureRefused:
    case device::ErrorKind::kCaptureInvalidated:
      return "the step does something that may not be captured; the message names the call";
    case device::ErrorKind::kSticky:
      return is_replay(phase)
                 ? std::string{kGoneMemory} + "; compute-sanitizer on this command names the access"
                 : "run the eager step under compute-sanitizer to find the access";
    case device::ErrorKind::kNoDevice:
      return "see `graphsan doctor`";
    case device::ErrorKind::kNotSupported:
    case device::ErrorKind::kInvalidArgument:
    case device::ErrorKind::kOther:
      if (foreign) return "mend the step; the message names the call";
      return "see `graphsan doctor`, and report it with the reproduction command";
  }
  return "";
}

std::string remedy_for_crash(std::string_view phase, std::size_t cases) {
  const auto parsed = model::parse_phase(phase);
  if (!parsed || !is_replay(*parsed)) return remedy_for_end(cases);
  return std::string{kGoneMemory} + "; " + remedy_for_end(cases);
}

std::string remedy_for_end(std::size_t cases) {
  if (cases < 2) return "run the reproduction command under a debugger to see where";
  return "run this case alone with the reproduction command; the other cases are not affected";
}

}  // namespace graphsan::check
