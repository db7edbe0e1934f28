#include <graphsan/check.h>

#include <exception>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "capi/check_options.hpp"
#include "check/check_in_process.hpp"
#include "device/cuda/cuda_device.hpp"
#include "model/verdict.hpp"
#include "record/output_file.hpp"
#include "record/recording.hpp"
#include "reports/reports.hpp"

// Nothing of C++ leaves this file: an exception becomes a result and a text.

struct graphsan_report {
  graphsan::model::RunReport run;
  std::string verdict;
  std::string text;  ///< empty until somebody asks
  std::string json;
  std::string html;
};

namespace graphsan::capi {
namespace {

/// What the ABI keeps for a thread: texts that its functions return, and whether it checks now.
struct PerThread {
  std::string error;
  std::string problem;
  bool checks = false;
};

PerThread& this_thread() {
  thread_local PerThread state;
  return state;
}

/// One check at a time in a process: CUPTI, captures and the current device are the process's.
std::mutex& check_mutex() {
  static std::mutex mutex;
  return mutex;
}

int refuse(graphsan_result result, const std::string& why) noexcept {
  try {
    this_thread().error = why;
  } catch (...) {
    this_thread().error.clear();
  }
  return result;
}

/// Runs the body of an ABI function and turns what it throws into a result.
template <typename Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    this_thread().error.clear();  // of a refused check inside a step's function, if there was one
    return GRAPHSAN_OK;
  } catch (const BadCall& error) {
    return refuse(GRAPHSAN_BAD_USAGE, error.what());
  } catch (const step::minimax_m3::ConfigError& error) {
    return refuse(GRAPHSAN_BAD_USAGE, error.what());
  } catch (const record::UsageError& error) {
    return refuse(GRAPHSAN_BAD_USAGE, std::string{"record: "} + error.what());
  } catch (const record::RecordingError& error) {
    return refuse(GRAPHSAN_BAD_USAGE, std::string{"record: "} + error.what());
  } catch (const check::NoGpuError& error) {
    return refuse(GRAPHSAN_NO_DEVICE, std::string{error.what()} + "; " + error.remedy());
  } catch (const std::exception& error) {
    return refuse(GRAPHSAN_FAILED,
                  std::string{error.what()} + "; `graphsan doctor` says what works here");
  } catch (...) {
    return refuse(GRAPHSAN_FAILED, "something was thrown that is no std::exception");
  }
}

/// Marks the thread as checking, and holds the process's one check.
class Turn {
 public:
  Turn() {
    if (this_thread().checks) {
      throw BadCall{
          "graphsan_check() was called inside a step's function: finish the first check before"};
    }
    lock_ = std::unique_lock{check_mutex()};
    this_thread().checks = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { this_thread().checks = false; }

 private:
  std::unique_lock<std::mutex> lock_;
};

std::string written(const reports::ReportWriter& writer, const model::RunReport& run) {
  std::ostringstream out;
  writer.write(run, out);
  return std::move(out).str();
}

/// Where a format is kept, made when it is first asked for; null where it is none.
const char* text_in(graphsan_report& report, const std::string& format) {
  if (format == "text") {
    if (report.text.empty()) {
      report.text = written(*reports::make_console_report(reports::Colour::kNever), report.run) +
                    reports::summary_line(report.run) + "\n";
    }
    return report.text.c_str();
  }
  if (format == "json") {
    if (report.json.empty()) report.json = written(*reports::make_json_report(), report.run);
    return report.json.c_str();
  }
  if (format == "html") {
    if (report.html.empty()) report.html = written(*reports::make_html_report(), report.run);
    return report.html.c_str();
  }
  return nullptr;
}

}  // namespace
}  // namespace graphsan::capi

namespace capi = graphsan::capi;

extern "C" {

int graphsan_api_version() { return GRAPHSAN_API_VERSION; }

const char* graphsan_version() { return GRAPHSAN_VERSION; }

const char* graphsan_last_error() { return capi::this_thread().error.c_str(); }

const char* graphsan_device_problem(const char* device) {
  std::string& problem = capi::this_thread().problem;
  const int result = capi::guarded([&] {
    problem.clear();
    if (capi::device_choice(device) != graphsan::check::DeviceChoice::kCuda) return;
    const graphsan::device::CudaAvailability cuda = graphsan::device::cuda_availability();
    if (!cuda.available) problem = cuda.reason + "; " + cuda.remedy;
  });
  if (result != GRAPHSAN_OK) return graphsan_last_error();
  return problem.empty() ? nullptr : problem.c_str();
}

int graphsan_check(const graphsan_plugin_table* step, const graphsan_check_options* options,
                   graphsan_report** report) {
  return capi::guarded([&] {
    if (report == nullptr) {
      throw capi::BadCall{"report is null: give the address of a graphsan_report*"};
    }
    *report = nullptr;
    const capi::Turn turn;
    auto made = std::make_unique<graphsan_report>();
    made->run = graphsan::check::check_in_process(capi::check_options(step, options));
    made->verdict = graphsan::model::to_string(made->run.verdict);
    *report = made.release();
  });
}

const char* graphsan_report_verdict(const graphsan_report* report) {
  return report->verdict.c_str();
}

int graphsan_report_exit_code(const graphsan_report* report) { return report->run.exit_code; }

const char* graphsan_report_text(graphsan_report* report, const char* format) {
  const char* text = nullptr;
  capi::guarded([&] {
    text = capi::text_in(*report, format == nullptr ? "" : format);
    if (text == nullptr) {
      throw capi::BadCall{std::string{"a report is \"text\", \"json\" or \"html\", not \""} +
                          (format == nullptr ? "" : format) + "\""};
    }
  });
  return text;
}

void graphsan_report_free(graphsan_report* report) { delete report; }

}  // extern "C"
