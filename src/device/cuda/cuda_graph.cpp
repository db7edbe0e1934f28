#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device_impl.hpp"
#include "device/cuda/native.hpp"
#include "device/cuda/node_order.hpp"
#include "device/cuda/node_reader.hpp"

namespace graphsan::device {
namespace {

cudaStreamCaptureMode to_cuda(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::kGlobal:
      return cudaStreamCaptureModeGlobal;
    case CaptureMode::kThreadLocal:
      return cudaStreamCaptureModeThreadLocal;
    case CaptureMode::kRelaxed:
      return cudaStreamCaptureModeRelaxed;
  }
  return cudaStreamCaptureModeGlobal;
}

}  // namespace

void CudaDevice::begin_capture(StreamRef stream, CaptureMode mode) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaStreamBeginCapture(native(stream), to_cuda(mode)));
  ++open_captures_;
}

Graph CudaDevice::end_capture(StreamRef stream) {
  make_current();
  cudaGraph_t graph = nullptr;
  const cudaError_t code = cudaStreamEndCapture(native(stream), &graph);
  ignore_failure(code);
  --open_captures_;
  Graph owned{*this, GraphRef{graph}};
  if (!kept_.empty()) release_kept();
  if (code != cudaSuccess) throw_cuda_error(code, "cudaStreamEndCapture", __FILE__, __LINE__);
  return owned;
}

CaptureStatus CudaDevice::capture_status(StreamRef stream) const {
  make_current();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  GRAPHSAN_CUDA_CHECK(cudaStreamIsCapturing(native(stream), &status));
  switch (status) {
    case cudaStreamCaptureStatusNone:
      return CaptureStatus::kNone;
    case cudaStreamCaptureStatusActive:
      return CaptureStatus::kActive;
    case cudaStreamCaptureStatusInvalidated:
      return CaptureStatus::kInvalidated;
  }
  return CaptureStatus::kNone;
}

GraphRef CudaDevice::captured_graph(StreamRef stream) const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  // Fails without harm on the legacy stream while another one captures.
  const cudaError_t code =
      cudaStreamGetCaptureInfo(native(stream), &status, nullptr, &graph, nullptr, nullptr, nullptr);
  ignore_failure(code);
  const bool captures = code == cudaSuccess && status == cudaStreamCaptureStatusActive;
  return captures ? GraphRef{graph} : GraphRef{};
}

CaptureMode CudaDevice::exchange_thread_mode(CaptureMode mode) {
  cudaStreamCaptureMode exchanged = to_cuda(mode);
  GRAPHSAN_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&exchanged));
  switch (exchanged) {
    case cudaStreamCaptureModeGlobal:
      return CaptureMode::kGlobal;
    case cudaStreamCaptureModeThreadLocal:
      return CaptureMode::kThreadLocal;
    case cudaStreamCaptureModeRelaxed:
      return CaptureMode::kRelaxed;
  }
  return CaptureMode::kGlobal;
}

Graph CudaDevice::clone(GraphRef graph) {
  make_current();
  cudaGraph_t copy = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaGraphClone(&copy, native(graph)));
  return Graph{*this, GraphRef{copy}};
}

NodeRef CudaDevice::find_in_clone(NodeRef original, GraphRef clone) {
  cudaGraphNode_t found = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaGraphNodeFindInClone(&found, native(original), native(clone)));
  return NodeRef{found};
}

GraphExec CudaDevice::instantiate(GraphRef graph) {
  make_current();
  cudaGraphExec_t exec = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaGraphInstantiate(&exec, native(graph), 0));
  return GraphExec{*this, GraphExecRef{exec}};
}

void CudaDevice::launch(GraphExecRef exec, StreamRef stream) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaGraphLaunch(native(exec), native(stream)));
}

std::vector<cudaGraphNode_t> CudaDevice::listed_nodes(GraphRef graph) const {
  std::size_t count = 0;
  GRAPHSAN_CUDA_CHECK(cudaGraphGetNodes(native(graph), nullptr, &count));
  std::vector<cudaGraphNode_t> listed(count);
  if (count > 0) GRAPHSAN_CUDA_CHECK(cudaGraphGetNodes(native(graph), listed.data(), &count));
  return listed;
}

std::vector<NodeInfo> CudaDevice::nodes(GraphRef graph) {
  make_current();
  const std::vector<cudaGraphNode_t> listed = listed_nodes(graph);
  std::unordered_map<void*, std::size_t> index;
  for (std::size_t i = 0; i < listed.size(); ++i) index.emplace(listed[i], i);
  std::vector<std::pair<std::size_t, std::size_t>> links;
  for (const EdgeInfo& edge : edges(graph)) {
    links.emplace_back(index.at(edge.from.raw), index.at(edge.to.raw));
  }
  std::vector<NodeInfo> infos;
  infos.reserve(listed.size());
  for (const std::size_t i : stable_topological_order(listed.size(), links)) {
    infos.push_back(read_node(driver_, listed[i]));
  }
  return infos;
}

std::vector<NodeRef> CudaDevice::node_refs(GraphRef graph) {
  std::vector<NodeRef> refs;
  for (const cudaGraphNode_t node : listed_nodes(graph)) refs.push_back(NodeRef{node});
  return refs;
}

std::vector<EdgeInfo> CudaDevice::edges(GraphRef graph) {
  make_current();
  std::size_t count = 0;
  GRAPHSAN_CUDA_CHECK(cudaGraphGetEdges(native(graph), nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count);
  std::vector<cudaGraphNode_t> to(count);
  std::vector<cudaGraphEdgeData> data(count);
  if (count > 0) {
    GRAPHSAN_CUDA_CHECK(
        cudaGraphGetEdges(native(graph), from.data(), to.data(), data.data(), &count));
  }
  std::vector<EdgeInfo> infos;
  infos.reserve(count);
  for (std::size_t i = 0; i < count; ++i) infos.push_back({NodeRef{from[i]}, NodeRef{to[i]}});
  return infos;
}

void CudaDevice::add_edges(GraphRef graph, std::span<const EdgeInfo> added) {
  std::set<std::pair<void*, void*>> present;
  for (const EdgeInfo& edge : edges(graph)) present.emplace(edge.from.raw, edge.to.raw);
  std::vector<cudaGraphNode_t> from;
  std::vector<cudaGraphNode_t> to;
  for (const EdgeInfo& edge : added) {
    if (!present.emplace(edge.from.raw, edge.to.raw).second) continue;
    from.push_back(native(edge.from));
    to.push_back(native(edge.to));
  }
  if (from.empty()) return;
  GRAPHSAN_CUDA_CHECK(
      cudaGraphAddDependencies(native(graph), from.data(), to.data(), nullptr, from.size()));
}

void CudaDevice::destroy(GraphRef graph) noexcept {
  ignore_failure(cudaGraphDestroy(native(graph)));
}

void CudaDevice::destroy(GraphExecRef exec) noexcept {
  ignore_failure(cudaGraphExecDestroy(native(exec)));
}

}  // namespace graphsan::device
