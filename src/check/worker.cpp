#include "check/worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "check/frame.hpp"
#include "record/recording.hpp"

namespace graphsan::check {

namespace {

/// Sends each phase to the supervisor, so that it knows where a worker died.
class PhaseSender final : public model::Observer {
 public:
  explicit PhaseSender(int events) : events_{events} {}
  void on_event(const model::Event& event) override {
    const auto* started = std::get_if<model::PhaseStarted>(&event.body);
    if (started == nullptr) return;
    static_cast<void>(
        write_frame(events_, FrameType::kPhase,
                    fmt::format("{}\n{}", model::to_string(started->phase), event.key.step)));
  }

 private:
  int events_;
};

bool read_command(int commands, std::int32_t& command) {
  ssize_t got = 0;
  do {
    got = ::read(commands, &command, sizeof(command));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(command));
}

/// False when a case was refused; the supervisor has been told why.
bool admit_all(const WorkerSetup& setup, device::Device& device, int events) {
  if (!setup.admit) return true;
  try {
    for (const CaseRequest& request : *setup.cases) setup.admit(device, request);
  } catch (const step::minimax_m3::ConfigError& error) {
    static_cast<void>(write_frame(events, FrameType::kUsage, error.what()));
    return false;
  }
  return true;
}

}  // namespace

int serve_cases(const WorkerSetup& setup, int commands, int events) {
  std::unique_ptr<device::Device> device;
  try {
    device = open_device(setup.device, setup.seed);
  } catch (const NoGpuError& error) {
    static_cast<void>(write_frame(events, FrameType::kNoDevice,
                                  fmt::format("{}\n{}", error.what(), error.remedy())));
    return 1;
  }
  if (!admit_all(setup, *device, events)) return 1;
  const std::string environment = encode_environment(describe_environment(*device));
  if (!write_frame(events, FrameType::kEnvironment, environment)) return 1;
  PhaseSender sender{events};
  std::int32_t command = -1;
  bool lost = false;
  while (!lost && read_command(commands, command) && command >= 0) {
    try {
      const model::CaseReport report =
          check_case(*device, setup.cases->at(static_cast<std::size_t>(command)), command,
                     setup.factory, sender, lost);
      if (lost && !write_frame(events, FrameType::kLeaving, "")) return 1;
      if (!write_frame(events, FrameType::kCase, record::to_json(report))) return 1;
    } catch (const step::minimax_m3::ConfigError& error) {
      if (!write_frame(events, FrameType::kUsage, error.what())) return 1;
    }
  }
  return 0;
}

}  // namespace graphsan::check
