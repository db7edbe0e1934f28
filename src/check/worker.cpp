#include "check/worker.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

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

/// What becomes of the worker after a case.
enum class Served : std::uint8_t { kGoOn, kLeave, kBroken };

/// Runs one case and tells the supervisor how it ended.
Served serve_case(const WorkerSetup& setup, device::Device& device, const Command& command,
                  PhaseSender& phases, int events) {
  const int index = command.case_index;
  CaseWatch watch;
  watch.observer = &phases;
  watch.experiments.left_out = command.left_out;
  watch.experiments.on_begin = [events](const std::string& experiment) {
    static_cast<void>(write_frame(events, FrameType::kExperiment, experiment));
  };
  watch.experiments.on_end = [events] {
    static_cast<void>(write_frame(events, FrameType::kExperiment, ""));
  };
  watch.on_draft = [events](const model::CaseReport& draft) {
    static_cast<void>(write_frame(events, FrameType::kDraft, record::to_json(draft)));
  };
  bool sent = false;
  watch.on_report = [events, &sent](const model::CaseReport& report) {
    sent = write_frame(events, FrameType::kCase, record::to_json(report));
  };
  try {
    const CaseResult result = check_case(device, setup.cases->at(static_cast<std::size_t>(index)),
                                         index, setup.factory, watch);
    if (result.lost_in) {
      static_cast<void>(write_frame(events, FrameType::kExperimentLost, result.lost_words));
      return Served::kLeave;
    }
    if (result.lost && !write_frame(events, FrameType::kLeaving, "")) return Served::kBroken;
    if (!sent && !write_frame(events, FrameType::kCase, record::to_json(result.report))) {
      return Served::kBroken;
    }
    if (!write_frame(events, FrameType::kIdle, "")) return Served::kBroken;
    return result.lost ? Served::kLeave : Served::kGoOn;
  } catch (const step::minimax_m3::ConfigError& error) {
    return write_frame(events, FrameType::kUsage, error.what()) ? Served::kGoOn : Served::kBroken;
  }
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
  PhaseSender sender{events};
  sender.on_event({.key = {}, .body = model::PhaseStarted{model::Phase::kSetUp}});
  if (!admit_all(setup, *device, events)) return 1;
  const std::string environment = encode_environment(describe_environment(*device));
  if (!write_frame(events, FrameType::kEnvironment, environment)) return 1;
  Served served = Served::kGoOn;
  while (served == Served::kGoOn) {
    const std::optional<Command> command = read_command(commands);
    if (!command) break;
    served = serve_case(setup, *device, *command, sender, events);
  }
  return served == Served::kBroken ? 1 : 0;
}

}  // namespace graphsan::check
