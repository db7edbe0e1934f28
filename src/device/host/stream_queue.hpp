#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "device/host/host_exec.hpp"
#include "device/host/work.hpp"

namespace graphsan::device::host {

class StreamQueue;

/// One record of an event: reached when the stream has executed everything before it.
struct Ticket {
  StreamQueue* queue = nullptr;  ///< null once reached
  std::chrono::steady_clock::time_point time;
  [[nodiscard]] bool reached() const noexcept { return queue == nullptr; }
};

/// A copy whose source bytes were taken at the call: what CUDA does with pageable host memory.
struct StagedCopy {
  void* destination = nullptr;
  std::vector<std::byte> bytes;
};

struct RecordTicket {
  std::shared_ptr<Ticket> ticket;
};

struct AwaitTicket {
  std::shared_ptr<Ticket> ticket;
};

struct GraphLaunch {
  std::shared_ptr<const ExecImage> image;
  std::uint64_t salt = 0;  ///< orders branches in this replay
};

using Command = std::variant<Work, StagedCopy, RecordTicket, AwaitTicket, GraphLaunch>;

/// The commands of one stream that have not executed yet, in order.
///
/// Nothing executes before run(): a command that awaits another stream's ticket runs that stream
/// up to it. Tickets are older than the commands that await them, so this ends.
class StreamQueue {
 public:
  void push(Command command) { commands_.push_back(std::move(command)); }
  [[nodiscard]] std::shared_ptr<Ticket> push_record();

  /// Executes everything. Throws what a command throws; the rest stays queued.
  void run();
  [[nodiscard]] bool idle() const noexcept { return commands_.empty(); }

 private:
  void run_until(const Ticket& ticket);
  void execute_next();

  std::deque<Command> commands_;
};

}  // namespace graphsan::device::host
