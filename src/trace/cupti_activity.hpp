#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/activity_source.hpp"

namespace graphsan::trace {

/// Whether device activity can be traced, and if not, why and what to do, in one sentence each.
struct TraceAvailability {
  bool available = false;
  std::string library;  ///< the file that was loaded, where one was
  std::string reason;
  std::string remedy;
};

/// Looks for CUPTI, loads it and asks whether it may be used. Never throws, and creates no context.
/// In a build without CUPTI: unavailable, and it says so.
[[nodiscard]] TraceAvailability cupti_availability();

/// A source that reads CUPTI's activity records; it holds CUPTI's one subscription until it dies.
///
/// One per process at a time. Throws TraceError where cupti_availability() says no.
[[nodiscard]] std::unique_ptr<ActivitySource> make_cupti_activity_source();

/// The value of an environment variable, or null.
using EnvironmentVariable = std::function<const char*(const char* name)>;

/// Names under which CUPTI is looked for, best first: the loader's own search, then the toolkits
/// that CUDA_HOME, CUDA_PATH and the usual place name.
[[nodiscard]] std::vector<std::string> cupti_candidates(const EnvironmentVariable& environment);

}  // namespace graphsan::trace
