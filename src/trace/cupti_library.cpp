#include "trace/cupti_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

#include "trace/cupti_activity.hpp"

namespace graphsan::trace {
namespace {

/// Records only grow at their ends within a major version, so any release of it can be read.
constexpr std::uint32_t kMajor = CUPTI_API_VERSION / 10000;

template <typename Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool find_all(void* handle, CuptiLibrary& library) {
  return find(handle, "cuptiGetVersion", library.get_version) &&
         find(handle, "cuptiSubscribe", library.subscribe) &&
         find(handle, "cuptiUnsubscribe", library.unsubscribe) &&
         find(handle, "cuptiActivityRegisterCallbacks", library.register_callbacks) &&
         find(handle, "cuptiActivityEnable", library.enable) &&
         find(handle, "cuptiActivityDisable", library.disable) &&
         find(handle, "cuptiActivityFlushAll", library.flush_all) &&
         find(handle, "cuptiActivityGetNextRecord", library.get_next_record) &&
         find(handle, "cuptiActivityGetNumDroppedRecords", library.get_dropped_records) &&
         find(handle, "cuptiActivityPushExternalCorrelationId", library.push_external_id) &&
         find(handle, "cuptiActivityPopExternalCorrelationId", library.pop_external_id) &&
         find(handle, "cuptiGetGraphNodeId", library.get_graph_node_id);
}

CuptiProblem not_found() {
  return {fmt::format("libcupti.so.{} was not found", kMajor),
          "install CUPTI (it comes with the CUDA toolkit), then set CUDA_HOME or LD_LIBRARY_PATH"};
}

}  // namespace

CuptiProblem load_cupti(CuptiLibrary& library) {
  CuptiProblem problem = not_found();
  for (const std::string& file : cupti_candidates(&std::getenv)) {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    std::uint32_t version = 0;
    if (find_all(handle, library) && library.get_version(&version) == CUPTI_SUCCESS &&
        version / 10000 == kMajor) {
      library.file = file;
      return {};
    }
    problem = {
        fmt::format("{} has version {}, but this build reads CUPTI {}", file, version, kMajor),
        fmt::format("put libcupti.so.{} first in LD_LIBRARY_PATH", kMajor)};
  }
  return problem;
}

CuptiProblem explain(CUptiResult result) {
  if (result == CUPTI_SUCCESS) return {};
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
      result == CUPTI_ERROR_MAX_LIMIT_REACHED) {
    return {"another tool in this process holds CUPTI (a profiler or compute-sanitizer)",
            "run without that tool to get a trace"};
  }
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
      result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) {
    return {"this user may not trace the GPU",
            "run as root, or let the driver's NVreg_RestrictProfilingToAdminUsers be 0"};
  }
  if (result == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED) {
    return {"CUPTI does not support this virtual GPU", "enable tracing in the hypervisor"};
  }
  if (result == CUPTI_ERROR_NOT_INITIALIZED || result == CUPTI_ERROR_UNKNOWN) {
    return {"CUPTI could not start with the CUDA driver of this machine",
            "check that an NVIDIA driver is there and fits this version of CUPTI"};
  }
  return {fmt::format("CUPTI refused with error {}", static_cast<int>(result)),
          "see CUptiResult in NVIDIA's CUPTI documentation"};
}

}  // namespace graphsan::trace
