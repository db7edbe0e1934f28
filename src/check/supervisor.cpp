#include "check/supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "check/experiment_watch.hpp"
#include "check/frame.hpp"
#include "check/remedy.hpp"
#include "record/recording.hpp"

namespace graphsan::check {

namespace {

using Clock = std::chrono::steady_clock;

/// One forked worker and the supervisor's ends of its pipes.
struct Worker {
  Worker(pid_t process, int commands_end, int events_end)
      : pid{process}, commands{commands_end}, events{events_end}, reader{events_end} {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    ::close(commands);
    ::close(events);
  }

  pid_t pid;
  int commands;
  int events;
  FrameReader reader;
  bool ready = false;    ///< its device is open
  bool leaving = false;  ///< takes no further case
  int case_index = -1;
  bool reported = false;  ///< the case has its report
  std::string phase = "set-up";
  bool opened = false;  ///< its device; a phase began since
  int step = -1;
  std::string draft;       ///< the case as judged without experiments, once there is one
  std::string experiment;  ///< the one under way, or empty
  std::string last_words;  ///< why it gives up
  bool hung = false;
  Clock::time_point last_sign = Clock::now();
};

std::unique_ptr<Worker> start_worker(const WorkerSetup& setup) {
  int commands[2];
  int events[2];
  if (::pipe2(commands, O_CLOEXEC) != 0 || ::pipe2(events, O_CLOEXEC) != 0) {
    throw std::runtime_error{"cannot make a pipe to a worker process"};
  }
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error{"cannot start a worker process"};
  if (pid == 0) {
    ::close(commands[1]);
    ::close(events[0]);
    // A worker does not outlive its supervisor, however that ends.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // An interrupt from the terminal is the supervisor's to handle.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    int status = 1;
    try {
      status = serve_cases(setup, commands[0], events[1]);
    } catch (const std::exception& error) {
      static_cast<void>(std::fprintf(stderr, "graphsan worker: %s\n", error.what()));
    }
    ::_exit(status);
  }
  ::close(commands[0]);
  ::close(events[1]);
  return std::make_unique<Worker>(pid, commands[1], events[0]);
}

std::pair<std::string, std::string> split_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + 1)};
}

std::string death_words(int status, const Worker& worker, double watchdog) {
  if (!worker.last_words.empty()) return worker.last_words;
  if (worker.hung) {
    return fmt::format("the worker gave no sign of life for {:g} s and was killed", watchdog);
  }
  if (WIFSIGNALED(status)) {
    return fmt::format("the worker was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("the worker ended with status {}", WEXITSTATUS(status));
}

/// While it lives, a write to a worker that has died fails instead of ending this process.
class BrokenPipesFail {
 public:
  BrokenPipesFail() : before_{std::signal(SIGPIPE, SIG_IGN)} {}
  ~BrokenPipesFail() { std::signal(SIGPIPE, before_); }
  BrokenPipesFail(const BrokenPipesFail&) = delete;
  BrokenPipesFail& operator=(const BrokenPipesFail&) = delete;

 private:
  void (*before_)(int);
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options) : options_{options} {
    result_.cases.resize(options.worker.cases->size());
  }
  ~Supervisor() {
    for (const std::unique_ptr<Worker>& worker : workers_) {
      ::kill(worker->pid, SIGKILL);
      ::waitpid(worker->pid, nullptr, 0);
    }
  }

  SupervisorResult run();

 private:
  [[nodiscard]] bool finished() const { return done_ == result_.cases.size(); }
  void start_enough_workers();
  void give_case(Worker& worker);
  void handle(Worker& worker, const Frame& frame);
  void poll_workers();
  void bury(std::size_t index);
  void check_watchdogs();
  void report_progress(const Worker& worker) const;
  void add_case(model::CaseReport report);
  void add_reported(Worker& worker, model::CaseReport report);
  void keep_drafts();
  /// Has the worker's case run once more without the experiment at which it died; false where that
  /// was done often enough.
  [[nodiscard]] bool retry_without(const Worker& worker, const std::string& words);
  /// The report, or what an earlier run of the case knew where that is more.
  [[nodiscard]] model::CaseReport with_draft(model::CaseReport report);
  [[nodiscard]] model::CaseReport failed(const Worker& worker, const std::string& words,
                                         const std::string& remedy) const;
  [[nodiscard]] std::size_t cases_left() const {
    return retries_.size() + result_.cases.size() - next_case_;
  }

  const SupervisorOptions& options_;
  SupervisorResult result_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t next_case_ = 0;
  std::vector<int> retries_;                                    ///< cases to be run once more
  std::map<int, std::map<std::string, std::string>> left_out_;  ///< experiments, by case
  std::map<int, std::string> drafts_;                           ///< of cases whose process ended
  std::size_t done_ = 0;
  int fruitless_starts_ = 0;
};

void Supervisor::start_enough_workers() {
  const std::size_t left = cases_left();
  const bool host = result_.environment && result_.environment->device == "host";
  const std::size_t wanted =
      std::min(left, host ? static_cast<std::size_t>(std::max(1, options_.jobs)) : 1);
  const auto idle = static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.end(),
                    [](const auto& worker) { return worker->case_index < 0 && !worker->leaving; }));
  const auto limit = host ? static_cast<std::size_t>(std::max(1, options_.jobs)) : 1;
  for (std::size_t i = idle; i < wanted && workers_.size() < limit; ++i) {
    WorkerSetup setup = options_.worker;
    if (result_.environment) setup.admit = nullptr;  // the first worker admitted all cases
    workers_.push_back(start_worker(setup));
  }
}

void Supervisor::give_case(Worker& worker) {
  const bool takes_one = worker.ready && !worker.leaving && !worker.hung && worker.case_index < 0;
  if (!takes_one || cases_left() == 0) return;
  const int index = retries_.empty() ? static_cast<int>(next_case_) : retries_.back();
  const auto left_out = left_out_.find(index);
  if (!write_command(worker.commands,
                     {index, left_out == left_out_.end() ? std::map<std::string, std::string>{}
                                                         : left_out->second})) {
    return;
  }
  worker.case_index = index;
  worker.reported = false;
  worker.phase = "set-up";
  worker.step = -1;
  worker.last_sign = Clock::now();
  if (retries_.empty()) {
    ++next_case_;
  } else {
    retries_.pop_back();
  }
}

void Supervisor::add_case(model::CaseReport report) {
  const auto index = static_cast<std::size_t>(report.index);
  if (options_.on_case) options_.on_case(report);
  result_.cases[index] = std::move(report);
  ++done_;
}

void Supervisor::report_progress(const Worker& worker) const {
  if (!options_.on_progress || worker.case_index < 0) return;
  options_.on_progress({done_, result_.cases.size(), worker.case_index, worker.phase, worker.step});
}

void Supervisor::handle(Worker& worker, const Frame& frame) {
  worker.last_sign = Clock::now();
  switch (frame.type) {
    case FrameType::kEnvironment:
      worker.ready = true;
      fruitless_starts_ = 0;
      if (!result_.environment) {
        result_.environment = decode_environment(frame.payload);
        if (options_.on_environment) options_.on_environment(*result_.environment);
      }
      break;
    case FrameType::kNoDevice: {
      const auto [reason, remedy] = split_line(frame.payload);
      throw NoGpuError{reason, remedy};
    }
    case FrameType::kPhase: {
      const auto [phase, step] = split_line(frame.payload);
      worker.opened = true;
      worker.phase = phase;
      worker.step = std::stoi(step);
      report_progress(worker);
      break;
    }
    case FrameType::kDraft:
      worker.draft = frame.payload;
      break;
    case FrameType::kExperiment:
      worker.experiment = frame.payload;
      break;
    case FrameType::kExperimentLost:
      worker.leaving = true;
      worker.last_words = frame.payload;
      break;
    case FrameType::kLeaving:
      worker.leaving = true;
      break;
    case FrameType::kCase:
      worker.reported = true;
      worker.experiment.clear();
      add_reported(worker, record::case_from_json(frame.payload));
      report_progress(worker);
      break;
    case FrameType::kIdle:
      worker.case_index = -1;
      break;
    case FrameType::kUsage:
      throw step::minimax_m3::ConfigError{frame.payload};
  }
}

void Supervisor::bury(std::size_t index) {
  const std::unique_ptr<Worker> worker = std::move(workers_[index]);
  workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
  int status = 0;
  ::waitpid(worker->pid, &status, 0);
  const std::string words = death_words(status, *worker, options_.watchdog_seconds);
  if (!worker->ready && ++fruitless_starts_ >= 3) {
    throw std::runtime_error{!worker->opened
                                 ? "no worker process can open the device: " + words
                                 : "the step ends its process when it is loaded or made (phase " +
                                       worker->phase + "): " + words +
                                       "; load its library in a program of your own to find where"};
  }
  if (worker->case_index < 0 || worker->reported) return;
  if (!worker->draft.empty()) drafts_.try_emplace(worker->case_index, worker->draft);
  if (!worker->experiment.empty() && retry_without(*worker, words)) return;
  const std::size_t cases = result_.cases.size();
  const bool crashed = WIFSIGNALED(status) && !worker->hung;
  add_case(with_draft(failed(
      *worker, words, crashed ? remedy_for_crash(worker->phase, cases) : remedy_for_end(cases))));
}

bool Supervisor::retry_without(const Worker& worker, const std::string& words) {
  auto& left_out = left_out_[worker.case_index];
  if (left_out.size() >= kMostLeftOut || left_out.contains(worker.experiment)) return false;
  left_out.emplace(worker.experiment, "it costs the process that runs the case: " + words);
  retries_.push_back(worker.case_index);
  return true;
}

void Supervisor::add_reported(Worker& worker, model::CaseReport report) {
  // A case that failed after the comparison keeps what the comparison saw.
  if (report.failure && !worker.draft.empty()) drafts_.try_emplace(report.index, worker.draft);
  worker.draft.clear();
  add_case(with_draft(std::move(report)));
}

model::CaseReport Supervisor::with_draft(model::CaseReport report) {
  const auto draft = drafts_.extract(report.index);
  if (draft.empty()) return report;
  return better_of(record::case_from_json(draft.mapped()), std::move(report));
}

model::CaseReport Supervisor::failed(const Worker& worker, const std::string& words,
                                     const std::string& remedy) const {
  const CaseRequest& request =
      options_.worker.cases->at(static_cast<std::size_t>(worker.case_index));
  model::CaseReport report;
  report.index = worker.case_index;
  report.group = request.group;
  report.title = request.title;
  report.config = describe(request);
  report.reproduce =
      reproduce_command(request, result_.environment ? result_.environment->device : "host");
  report.failure = model::Failure{worker.phase, worker.step, words, remedy};
  report.reason = "tool or device failure: " + words;
  return report;
}

void Supervisor::poll_workers() {
  std::vector<pollfd> descriptors;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    descriptors.push_back({worker->events, POLLIN, 0});
  }
  if (::poll(descriptors.data(), descriptors.size(), 100) <= 0) return;
  for (std::size_t i = descriptors.size(); i-- > 0;) {
    if (descriptors[i].revents == 0) continue;
    Worker& worker = *workers_[i];
    const bool open = worker.reader.fill();
    while (const std::optional<Frame> frame = worker.reader.next()) handle(worker, *frame);
    if (!open) bury(i);
  }
}

void Supervisor::check_watchdogs() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    const std::chrono::duration<double> silent = Clock::now() - worker->last_sign;
    const bool busy = worker->case_index >= 0 || !worker->ready || worker->leaving;
    if (!busy || worker->hung || silent.count() < options_.watchdog_seconds) continue;
    worker->hung = true;
    ::kill(worker->pid, SIGKILL);
  }
}

/// What is known of the cases that an interrupt stops in their experiments.
void Supervisor::keep_drafts() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->case_index >= 0 && !worker->draft.empty()) {
      drafts_.try_emplace(worker->case_index, worker->draft);
    }
  }
  for (const auto& [index, draft] : std::exchange(drafts_, {})) {
    model::CaseReport report = record::case_from_json(draft);
    report.notes.emplace_back("interrupted: nothing was confirmed by experiment");
    add_case(std::move(report));
  }
}

SupervisorResult Supervisor::run() {
  const BrokenPipesFail broken_pipes_fail;
  while (!finished()) {
    if (options_.interrupted && options_.interrupted()) {
      result_.interrupted = true;
      keep_drafts();
      break;
    }
    start_enough_workers();
    for (const std::unique_ptr<Worker>& worker : workers_) give_case(*worker);
    poll_workers();
    check_watchdogs();
  }
  return std::move(result_);
}

}  // namespace

SupervisorResult supervise(const SupervisorOptions& options) { return Supervisor{options}.run(); }

}  // namespace graphsan::check
