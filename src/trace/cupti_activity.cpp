#include "trace/cupti_activity.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/cupti_library.hpp"
#include "trace/cupti_records.hpp"

namespace graphsan::trace {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kBufferAlignment = 8;
constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                            // A label reaches an activity by way of the call that issued it: CUPTI
                            // writes an external correlation before each record of a call.
                            CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_RUNTIME,
                            CUPTI_ACTIVITY_KIND_DRIVER};
constexpr auto kLabels = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;

[[noreturn]] void fail(const CuptiProblem& problem) {
  throw TraceError{problem.reason + "; " + problem.remedy};
}

void check(CUptiResult result) {
  if (const CuptiProblem problem = explain(result)) fail(problem);
}

void CUPTIAPI ignore_callback(void* /*user*/, CUpti_CallbackDomain /*domain*/,
                              CUpti_CallbackId /*id*/, const void* /*data*/) {}

class CuptiActivitySource final : public ActivitySource {
 public:
  /// CUPTI calls back on threads of its own without a user pointer, so the one source that may
  /// exist is found here.
  static std::atomic<CuptiActivitySource*>& active() {
    static std::atomic<CuptiActivitySource*> source{nullptr};
    return source;
  }

  explicit CuptiActivitySource(CuptiLibrary library) : library_{std::move(library)} {
    CuptiActivitySource* none = nullptr;
    if (!active().compare_exchange_strong(none, this)) {
      throw TraceError{"this process traces already; end the other trace first"};
    }
    try {
      check(library_.subscribe(&subscriber_, &ignore_callback, nullptr));
      check(library_.register_callbacks(&buffer_requested, &buffer_completed));
    } catch (...) {
      active() = nullptr;
      throw;
    }
  }

  ~CuptiActivitySource() override {
    if (collecting_) disable_all();
    static_cast<void>(library_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    static_cast<void>(library_.unsubscribe(subscriber_));
    active() = nullptr;
  }

  CuptiActivitySource(const CuptiActivitySource&) = delete;
  CuptiActivitySource& operator=(const CuptiActivitySource&) = delete;

  void start() override {
    if (collecting_) throw TraceError{"the trace has been started already"};
    reset();
    collecting_ = true;
    push_label();
    for (const CUpti_ActivityKind kind : kKinds) {
      const CUptiResult result = library_.enable(kind);
      if (result == CUPTI_SUCCESS) continue;
      disable_all();
      fail(explain(result));
    }
  }

  std::vector<Activity> stop() override {
    if (!collecting_) throw TraceError{"the trace has not been started"};
    const CUptiResult flushed = library_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    disable_all();
    check(flushed);
    const std::lock_guard lock{mutex_};
    if (dropped_ > 0) {
      throw TraceError{"CUPTI dropped " + std::to_string(dropped_) +
                       " activity records; trace fewer steps at once"};
    }
    for (Activity& activity : activities_) {
      const auto found = label_of_.find(activity.correlation);
      if (found == label_of_.end()) continue;
      // Another tool may push ids of the same kind.
      if (found->second < label_texts_.size()) activity.label = label_texts_[found->second];
    }
    std::ranges::stable_sort(activities_, {}, &Activity::start_ns);
    return std::exchange(activities_, {});
  }

  void on_label(const std::string& label) override {
    label_ = label;
    if (!collecting_) return;
    pop_label();
    push_label();
  }

  std::optional<std::uint64_t> node_id(device::NodeRef node) override {
    std::uint64_t id = 0;
    const CUptiResult result = library_.get_graph_node_id(static_cast<CUgraphNode>(node.raw), &id);
    if (result != CUPTI_SUCCESS) return std::nullopt;
    return id;
  }

 private:
  static void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes,
                                        std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
    *bytes = *buffer == nullptr ? 0 : kBufferBytes;
    *most_records = 0;
  }

  static void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream,
                                        std::uint8_t* buffer, std::size_t /*bytes*/,
                                        std::size_t valid_bytes) {
    if (CuptiActivitySource* source = active()) source->take(context, stream, buffer, valid_bytes);
    std::free(buffer);
  }

  void take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
            std::size_t valid_bytes) {
    const std::lock_guard lock{mutex_};
    CUpti_Activity* record = nullptr;
    while (valid_bytes > 0 &&
           library_.get_next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      if (const auto external = to_external_id(*record, kLabels)) {
        label_of_[external->correlation] = external->id;
      }
      if (auto activity = to_activity(*record)) activities_.push_back(std::move(*activity));
    }
    std::size_t dropped = 0;
    if (library_.get_dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) {
      dropped_ += dropped;
    }
  }

  void reset() {
    const std::lock_guard lock{mutex_};
    activities_.clear();
    label_of_.clear();
    label_texts_.clear();
    dropped_ = 0;
  }

  /// What this thread issues from now on gets the label that holds.
  void push_label() {
    if (label_.empty()) return;
    label_texts_.push_back(label_);
    pushed_ = library_.push_external_id(kLabels, label_texts_.size() - 1) == CUPTI_SUCCESS;
  }

  void pop_label() noexcept {
    if (!std::exchange(pushed_, false)) return;
    std::uint64_t id = 0;
    static_cast<void>(library_.pop_external_id(kLabels, &id));
  }

  void disable_all() noexcept {
    pop_label();
    for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(library_.disable(kind));
    collecting_ = false;
  }

  CuptiLibrary library_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool collecting_ = false;
  std::string label_;                     ///< holds now
  bool pushed_ = false;                   ///< an id of ours is on CUPTI's stack
  std::vector<std::string> label_texts_;  ///< by external id
  std::mutex mutex_;                      ///< guards what CUPTI's threads write
  std::vector<Activity> activities_;
  std::unordered_map<std::uint32_t, std::uint64_t> label_of_;  ///< external id by correlation
  std::size_t dropped_ = 0;
};

CuptiProblem try_subscription(const CuptiLibrary& library) {
  if (CuptiActivitySource::active() != nullptr) return {};
  CUpti_SubscriberHandle subscriber = nullptr;
  CuptiProblem problem = explain(library.subscribe(&subscriber, &ignore_callback, nullptr));
  if (!problem) static_cast<void>(library.unsubscribe(subscriber));
  return problem;
}

}  // namespace

TraceAvailability cupti_availability() {
  CuptiLibrary library;
  CuptiProblem problem = load_cupti(library);
  if (!problem) problem = try_subscription(library);
  return {!problem, library.file, problem.reason, problem.remedy};
}

std::unique_ptr<ActivitySource> make_cupti_activity_source() {
  CuptiLibrary library;
  if (const CuptiProblem problem = load_cupti(library)) fail(problem);
  return std::make_unique<CuptiActivitySource>(std::move(library));
}

}  // namespace graphsan::trace
