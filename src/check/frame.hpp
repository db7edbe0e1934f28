#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/run_report.hpp"

namespace graphsan::check {

/// What a worker tells its supervisor.
enum class FrameType : std::uint32_t {
  kEnvironment = 1,  ///< see encode_environment()
  kNoDevice,         ///< the device asked for is not there: reason, newline, remedy
  kPhase,            ///< phase word, newline, step
  kDraft,            ///< the case under way, judged without experiments, as JSON
  kExperiment,       ///< name of the experiment that begins; empty: it has ended
  kExperimentLost,   ///< the experiment under way costs this process: why. No case follows
  kLeaving,          ///< no further case may be given: the case report that follows is the last
  kCase,             ///< a case report as JSON; its step may still be there
  kIdle,             ///< the step is gone, and another case can be given
  kUsage             ///< the case cannot be run as asked for: what to change
};

struct Frame {
  FrameType type = FrameType::kPhase;
  std::string payload;
};

/// Writes one frame whole; false when the reader is gone.
[[nodiscard]] bool write_frame(int descriptor, FrameType type, std::string_view payload);

/// What a supervisor tells its worker: the case to run.
struct Command {
  int case_index = 0;
  /// Experiments that ended an earlier process at this case, and how.
  std::map<std::string, std::string> left_out;
};

/// Writes one command whole; false when the worker is gone.
[[nodiscard]] bool write_command(int descriptor, const Command& command);
/// Waits for the next command; empty when there are no more.
[[nodiscard]] std::optional<Command> read_command(int descriptor);

/// Collects bytes from a pipe into frames.
class FrameReader {
 public:
  explicit FrameReader(int descriptor) : descriptor_{descriptor} {}
  /// Reads what is there; false at the end of the pipe.
  [[nodiscard]] bool fill();
  /// The next complete frame.
  [[nodiscard]] std::optional<Frame> next();

 private:
  int descriptor_;
  std::string buffer_;
};

/// An environment as a frame's payload, one member a line, and back.
[[nodiscard]] std::string encode_environment(const model::Environment& environment);
[[nodiscard]] model::Environment decode_environment(const std::string& text);

}  // namespace graphsan::check
