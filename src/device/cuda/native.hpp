#pragma once

#include <cuda_runtime_api.h>

#include "device/handles.hpp"

namespace graphsan::device {

/// The CUDA handle behind a borrowed one.
[[nodiscard]] inline cudaStream_t native(StreamRef stream) noexcept {
  return static_cast<cudaStream_t>(stream.raw);
}
[[nodiscard]] inline cudaEvent_t native(EventRef event) noexcept {
  return static_cast<cudaEvent_t>(event.raw);
}
[[nodiscard]] inline cudaGraph_t native(GraphRef graph) noexcept {
  return static_cast<cudaGraph_t>(graph.raw);
}
[[nodiscard]] inline cudaGraphExec_t native(GraphExecRef exec) noexcept {
  return static_cast<cudaGraphExec_t>(exec.raw);
}
[[nodiscard]] inline cudaGraphNode_t native(NodeRef node) noexcept {
  return static_cast<cudaGraphNode_t>(node.raw);
}

/// For calls whose failure nobody can act on: clears it, so that no later call is blamed.
inline void ignore_failure(cudaError_t code) noexcept {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace graphsan::device
