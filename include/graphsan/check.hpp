// Checks a C++ step in the calling process, and says what was found; C++17, header only, over the C
// ABI of libgraphsan.so (graphsan/check.h).
#ifndef GRAPHSAN_CHECK_HPP
#define GRAPHSAN_CHECK_HPP

#include <graphsan/check.h>
#include <graphsan/plugin.hpp>
#include <graphsan/step.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace graphsan {

/// Where a step runs: CUDA where it can be used, else the host device; or one of the two.
enum class DeviceChoice { kAuto, kCuda, kHost };
/// What a capture knows of the batch.
enum class CaptureMetadata { kDummy, kNone };
/// When graphs are captured: before any request, or over the history of live ones.
enum class CaptureAt { kStart, kLive };

/// How to check.
struct CheckOptions {
  DeviceChoice device = DeviceChoice::kAuto;
  CaptureMetadata capture_metadata = CaptureMetadata::kDummy;
  CaptureAt capture_at = CaptureAt::kStart;
  std::string record;     ///< the file that keeps the recording; empty: none
  std::int64_t seed = 1;  ///< of the order of work that nothing orders, on the host device
  bool carry = false;     ///< differences are carried from step to step, as a server would
};

/// Options, a table or a file that no check can use; what() says what to change.
class BadUsage : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// CUDA was asked for and cannot be used; what() says why.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The tool or the device failed before there was a report.
class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a check says of a step. Only kAgreed is proof that its graph does what eager does.
enum class Verdict { kAgreed, kDiverged, kHazard, kInconclusive };

inline std::ostream& operator<<(std::ostream& out, Verdict verdict) {
  constexpr const char* kWords[] = {"agreed", "diverged", "hazard", "inconclusive"};
  return out << kWords[static_cast<int>(verdict)];
}

/// What a check found. A moved-from report must not be used, only destroyed or assigned to.
class Report {
 public:
  /// Owns `report`, which graphsan_check() made.
  explicit Report(graphsan_report* report) : report_{report} {}

  [[nodiscard]] Verdict verdict() const {
    const std::string word = verdict_word();
    if (word == "agreed") return Verdict::kAgreed;
    if (word == "diverged") return Verdict::kDiverged;
    if (word == "hazard") return Verdict::kHazard;
    return Verdict::kInconclusive;
  }
  /// The verdict as reports spell it.
  [[nodiscard]] std::string verdict_word() const { return graphsan_report_verdict(report_.get()); }
  /// Whether eager and graph agreed, with proof, and no fault stands.
  [[nodiscard]] bool agreed() const { return exit_code() == 0; }
  /// What `graphsan check` would have exited with: 0, 1, 3 or 4.
  [[nodiscard]] int exit_code() const { return graphsan_report_exit_code(report_.get()); }

  /// For people; the last line is the SUMMARY. This and the next two throw CheckFailed where the
  /// report cannot be written.
  [[nodiscard]] std::string text() const { return in_format("text"); }
  /// For programs: docs/report.schema.json.
  [[nodiscard]] std::string json() const { return in_format("json"); }
  /// One page, without network.
  [[nodiscard]] std::string html() const { return in_format("html"); }

 private:
  struct Free {
    void operator()(graphsan_report* report) const { graphsan_report_free(report); }
  };

  [[nodiscard]] std::string in_format(const char* format) const {
    const char* text = graphsan_report_text(report_.get(), format);
    if (text == nullptr) throw CheckFailed{graphsan_last_error()};
    return text;
  }

  std::unique_ptr<graphsan_report, Free> report_;
};

/// The verdict and the exit code on one line; text() has the rest.
inline std::ostream& operator<<(std::ostream& out, const Report& report) {
  return out << report.verdict_word() << " (exit code " << report.exit_code() << ')';
}

namespace detail {

/// What create() of the thread's check takes its step from: the ABI has no other way to it.
inline StepBinding::Maker& current_maker() {
  thread_local StepBinding::Maker maker;
  return maker;
}
inline StepBinding::Maker copy_of_current_maker() { return current_maker(); }

inline Report check_step(StepBinding::Maker maker, const CheckOptions& options) {
  if (graphsan_api_version() != GRAPHSAN_API_VERSION) {
    throw BadUsage{"libgraphsan.so has API " + std::to_string(graphsan_api_version()) +
                   ", and <graphsan/check.h> has API " + std::to_string(GRAPHSAN_API_VERSION) +
                   ": use the two of one release"};
  }
  constexpr const char* kDevices[] = {"auto", "cuda", "host"};
  graphsan_check_options given{};
  given.struct_size = sizeof(given);
  given.device = kDevices[static_cast<int>(options.device)];
  given.capture_metadata = options.capture_metadata == CaptureMetadata::kNone ? "none" : "dummy";
  given.capture_at = options.capture_at == CaptureAt::kLive ? "live" : "start";
  given.record = options.record.c_str();
  given.seed = options.seed;
  given.carry = options.carry ? 1 : 0;
  struct Restore {
    StepBinding::Maker before;
    ~Restore() { current_maker() = std::move(before); }
  } const restore{std::exchange(current_maker(), std::move(maker))};
  graphsan_report* report = nullptr;
  const int result = graphsan_check(&StepBinding::table<&copy_of_current_maker>(), &given, &report);
  if (result == GRAPHSAN_OK) return Report{report};
  const std::string why = graphsan_last_error();
  if (result == GRAPHSAN_NO_DEVICE) throw NoDevice{why};
  if (result == GRAPHSAN_BAD_USAGE) throw BadUsage{why};
  throw CheckFailed{why};
}

}  // namespace detail

/// Why a device cannot be used and what to do about it; nothing where it can.
inline std::optional<std::string> device_problem(DeviceChoice device) {
  if (device != DeviceChoice::kCuda) return std::nullopt;
  const char* problem = graphsan_device_problem("cuda");
  if (problem == nullptr) return std::nullopt;
  return problem;
}

/// Runs the step eagerly and as a graph, compares, and looks for the mechanism of a difference. A
/// step that fails gives a report too. Throws BadUsage, NoDevice, CheckFailed.
[[nodiscard]] inline Report check(Step& step, const CheckOptions& options = {}) {
  return detail::check_step([&step](Host&, std::unique_ptr<Step>&) { return &step; }, options);
}

/// The same with a step that lives as long as the check.
[[nodiscard]] inline Report check(const StepFactory& factory, const CheckOptions& options = {}) {
  return detail::check_step(
      [&factory](Host& host, std::unique_ptr<Step>& owned) {
        owned = factory(host);
        return owned.get();
      },
      options);
}

}  // namespace graphsan

#endif  // GRAPHSAN_CHECK_HPP
