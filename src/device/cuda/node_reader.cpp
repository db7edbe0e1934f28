#include "device/cuda/node_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/cuda/check.hpp"
#include "device/cuda/demangle.hpp"

namespace graphsan::device {
namespace {

static_assert(kPackedEnd == CU_LAUNCH_PARAM_END_AS_INT);
static_assert(kPackedBufferPointer == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
static_assert(kPackedBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);

struct KindAndWord {
  NodeKind kind;
  const char* word;
};

/// The vendor's enumeration grows with each release, so the last line stands for what is unknown.
KindAndWord describe(cudaGraphNodeType type) {
  if (type == cudaGraphNodeTypeKernel) return {NodeKind::kKernel, "kernel"};
  if (type == cudaGraphNodeTypeMemcpy) return {NodeKind::kCopy, "memcpy"};
  if (type == cudaGraphNodeTypeMemset) return {NodeKind::kFill, "memset"};
  if (type == cudaGraphNodeTypeHost) return {NodeKind::kHostFunction, "host"};
  if (type == cudaGraphNodeTypeGraph) return {NodeKind::kChildGraph, "child-graph"};
  if (type == cudaGraphNodeTypeEmpty) return {NodeKind::kEmpty, "empty"};
  if (type == cudaGraphNodeTypeWaitEvent) return {NodeKind::kEvent, "event"};
  if (type == cudaGraphNodeTypeEventRecord) return {NodeKind::kEvent, "event"};
  if (type == cudaGraphNodeTypeMemAlloc) return {NodeKind::kAllocation, "allocation"};
  if (type == cudaGraphNodeTypeMemFree) return {NodeKind::kAllocation, "allocation"};
  if (type == cudaGraphNodeTypeConditional) return {NodeKind::kConditional, "conditional"};
  return {NodeKind::kOther, "other"};
}

/// Parameters are numbered from 0; the first number that the driver refuses ends the list.
std::vector<ParameterSlot> parameter_slots(const DriverApi& driver, CUfunction function) {
  std::vector<ParameterSlot> slots;
  if (function == nullptr) return slots;
  ParameterSlot slot;
  while (driver.function_get_parameter_info(function, slots.size(), &slot.offset, &slot.size) ==
         CUDA_SUCCESS) {
    slots.push_back(slot);
  }
  return slots;
}

std::vector<Argument> copy_pointed_arguments(const KernelNode& kernel) {
  std::vector<Argument> arguments;
  arguments.reserve(kernel.slots.size());
  for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(kernel.params.kernelParams[i]);
    arguments.push_back(Argument{static_cast<std::uint32_t>(kernel.slots[i].offset),
                                 {bytes, bytes + kernel.slots[i].size}});
  }
  return arguments;
}

void read_kernel(const DriverApi& driver, cudaGraphNode_t node, NodeInfo& info) {
  const KernelNode kernel = read_kernel_node(driver, node);
  const char* name = nullptr;
  if (driver.function_get_name(&name, kernel.function) == CUDA_SUCCESS && name != nullptr) {
    info.name = demangle(name);
  }
  info.kernel.dims =
      LaunchDims{{kernel.params.gridDimX, kernel.params.gridDimY, kernel.params.gridDimZ},
                 {kernel.params.blockDimX, kernel.params.blockDimY, kernel.params.blockDimZ},
                 kernel.params.sharedMemBytes};
  info.packed_arguments = kernel.packed();
  if (kernel.packed()) {
    info.kernel.arguments =
        split_parameters(walk_packed_list(kernel.params.extra).bytes, packed_slots(kernel));
  } else if (kernel.params.kernelParams != nullptr) {
    info.kernel.arguments = copy_pointed_arguments(kernel);
  } else if (!kernel.slots.empty()) {
    info.unreadable = "the driver gives no arguments for this kernel";
  }
}

/// Address of the first byte of one side of a copy.
void* first_byte(const cudaPitchedPtr& side, const cudaPos& at) {
  return static_cast<std::byte*>(side.ptr) + at.z * side.pitch * side.ysize + at.y * side.pitch +
         at.x;
}

void read_copy(cudaGraphNode_t node, NodeInfo& info) {
  cudaMemcpy3DParms params{};
  GRAPHSAN_CUDA_CHECK(cudaGraphMemcpyNodeGetParams(node, &params));
  if (params.srcArray != nullptr || params.dstArray != nullptr) {
    info.unreadable = "copy of a CUDA array";
  } else if (params.extent.height > 1 || params.extent.depth > 1) {
    info.unreadable = fmt::format("pitched copy of {} x {} x {} bytes", params.extent.width,
                                  params.extent.height, params.extent.depth);
  } else {
    info.copy = CopyParams{first_byte(params.dstPtr, params.dstPos),
                           first_byte(params.srcPtr, params.srcPos), params.extent.width};
  }
}

/// Whether all bytes of an element of a fill are equal, so that it can be said in bytes.
bool one_byte_pattern(unsigned int value, unsigned int element_bytes) {
  const unsigned int low = value & 0xFFU;
  for (unsigned int byte = 1; byte < element_bytes; ++byte) {
    if (((value >> (8 * byte)) & 0xFFU) != low) return false;
  }
  return true;
}

void read_fill(cudaGraphNode_t node, NodeInfo& info) {
  cudaMemsetParams params{};
  GRAPHSAN_CUDA_CHECK(cudaGraphMemsetNodeGetParams(node, &params));
  if (params.height > 1) {
    info.unreadable = fmt::format("pitched fill of {} rows", params.height);
  } else if (!one_byte_pattern(params.value, params.elementSize)) {
    info.unreadable =
        fmt::format("fill with the {}-byte pattern {:#x}", params.elementSize, params.value);
  } else {
    info.fill = FillParams{params.dst, params.width * params.elementSize,
                           static_cast<std::uint8_t>(params.value & 0xFFU)};
  }
}

}  // namespace

KernelNode read_kernel_node(const DriverApi& driver, cudaGraphNode_t node) {
  KernelNode kernel;
  GRAPHSAN_DRIVER_CHECK(driver.graph_kernel_node_get_params(node, &kernel.params));
  kernel.function = kernel.params.func;
  if (kernel.function == nullptr && kernel.params.kern != nullptr) {
    GRAPHSAN_DRIVER_CHECK(driver.kernel_get_function(&kernel.function, kernel.params.kern));
  }
  kernel.slots = parameter_slots(driver, kernel.function);
  return kernel;
}

std::vector<ParameterSlot> packed_slots(const KernelNode& kernel) {
  const PackedBuffer buffer = walk_packed_list(kernel.params.extra);
  if (!buffer.problem.empty()) throw DeviceError{ErrorKind::kNotSupported, buffer.problem};
  const bool fits = std::ranges::all_of(kernel.slots, [&buffer](const ParameterSlot& slot) {
    return slot.offset + slot.size <= buffer.bytes.size();
  });
  if (!kernel.slots.empty() && fits) return kernel.slots;
  return {ParameterSlot{0, buffer.bytes.size()}};
}

NodeInfo read_node(const DriverApi& driver, cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  GRAPHSAN_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
  const KindAndWord described = describe(type);
  NodeInfo info;
  info.node = NodeRef{node};
  info.kind = described.kind;
  info.name = described.word;
  try {
    if (info.kind == NodeKind::kKernel) read_kernel(driver, node, info);
    if (info.kind == NodeKind::kCopy) read_copy(node, info);
    if (info.kind == NodeKind::kFill) read_fill(node, info);
  } catch (const DeviceError& error) {
    if (error.kind() == ErrorKind::kSticky) throw;
    info.unreadable = error.what();
  }
  return info;
}

}  // namespace graphsan::device
