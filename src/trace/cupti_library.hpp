#pragma once

#include <cupti.h>

#include <string>

namespace graphsan::trace {

/// CUPTI's functions, found at run time; the library stays loaded, as CUPTI demands.
struct CuptiLibrary {
  std::string file;
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external_id = nullptr;
  decltype(&cuptiGetGraphNodeId) get_graph_node_id = nullptr;
};

/// Why CUPTI cannot be used, and what to do; both empty when it can.
struct CuptiProblem {
  std::string reason;
  std::string remedy;
  explicit operator bool() const noexcept { return !reason.empty(); }
};

/// Loads the first candidate that is there and fits the headers of this build.
[[nodiscard]] CuptiProblem load_cupti(CuptiLibrary& library);

/// What a result of CUPTI means for somebody who wants a trace; empty for success.
[[nodiscard]] CuptiProblem explain(CUptiResult result);

}  // namespace graphsan::trace
