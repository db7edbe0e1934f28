#include "device/host/stream_queue.hpp"

#include <cstring>

namespace graphsan::device::host {

std::shared_ptr<Ticket> StreamQueue::push_record() {
  auto ticket = std::make_shared<Ticket>();
  ticket->queue = this;
  push(RecordTicket{ticket});
  return ticket;
}

void StreamQueue::run() {
  while (!commands_.empty()) execute_next();
}

void StreamQueue::run_until(const Ticket& ticket) {
  while (!ticket.reached() && !commands_.empty()) execute_next();
}

void StreamQueue::execute_next() {
  const Command command = std::move(commands_.front());
  commands_.pop_front();
  if (const auto* work = std::get_if<Work>(&command)) {
    execute(*work);
  } else if (const auto* copy = std::get_if<StagedCopy>(&command)) {
    std::memcpy(copy->destination, copy->bytes.data(), copy->bytes.size());
  } else if (const auto* record = std::get_if<RecordTicket>(&command)) {
    record->ticket->time = std::chrono::steady_clock::now();
    record->ticket->queue = nullptr;
  } else if (const auto* await = std::get_if<AwaitTicket>(&command)) {
    if (!await->ticket->reached()) await->ticket->queue->run_until(*await->ticket);
  } else if (const auto* launch = std::get_if<GraphLaunch>(&command)) {
    launch->image->replay(launch->salt);
  }
}

}  // namespace graphsan::device::host
