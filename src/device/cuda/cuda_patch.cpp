#include <fmt/format.h>

#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device_impl.hpp"
#include "device/cuda/native.hpp"
#include "device/cuda/node_reader.hpp"

namespace graphsan::device {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw DeviceError{ErrorKind::kInvalidArgument, why};
}

/// Pointers to `arguments`, which must be the node's parameters one by one.
std::vector<void*> pointers_to(const KernelNode& kernel, const std::vector<Argument>& arguments) {
  if (arguments.size() != kernel.slots.size()) {
    refuse(fmt::format("the kernel takes {} arguments, not {}", kernel.slots.size(),
                       arguments.size()));
  }
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ParameterSlot& slot = kernel.slots[i];
    if (arguments[i].offset != slot.offset || arguments[i].bytes.size() != slot.size) {
      refuse(fmt::format("argument {} is {} bytes at offset {}, not {} at {}", i, slot.size,
                         slot.offset, arguments[i].bytes.size(), arguments[i].offset));
    }
    pointers.push_back(const_cast<std::byte*>(arguments[i].bytes.data()));
  }
  return pointers;
}

void set_dims(CUDA_KERNEL_NODE_PARAMS_v2& params, const LaunchDims& dims) {
  params.gridDimX = dims.grid.x;
  params.gridDimY = dims.grid.y;
  params.gridDimZ = dims.grid.z;
  params.blockDimX = dims.block.x;
  params.blockDimY = dims.block.y;
  params.blockDimZ = dims.block.z;
  params.sharedMemBytes = dims.shared_bytes;
}

/// `value` repeated over an element of a fill.
unsigned int repeated(std::uint8_t value, unsigned int element_bytes) {
  unsigned int pattern = 0;
  for (unsigned int byte = 0; byte < element_bytes; ++byte) {
    pattern |= static_cast<unsigned int>(value) << (8 * byte);
  }
  return pattern;
}

}  // namespace

void CudaDevice::set_enabled(GraphExecRef exec, NodeRef node, bool enabled) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaGraphNodeSetEnabled(native(exec), native(node), enabled ? 1U : 0U));
}

void CudaDevice::set_kernel(GraphExecRef exec, NodeRef node, const KernelParams& params) {
  make_current();
  const KernelNode kernel = read_kernel_node(driver_, native(node));
  CUDA_KERNEL_NODE_PARAMS_v2 changed = kernel.params;
  set_dims(changed, params.dims);
  if (kernel.packed()) {
    const PackedBuffer original = walk_packed_list(kernel.params.extra);
    if (!original.problem.empty()) refuse(original.problem);
    std::vector<std::byte> buffer{original.bytes.begin(), original.bytes.end()};
    overlay_parameters(buffer, params.arguments);
    std::size_t size = buffer.size();
    void* list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                    &size, CU_LAUNCH_PARAM_END};
    changed.extra = list;
    GRAPHSAN_DRIVER_CHECK(
        driver_.graph_exec_kernel_node_set_params(native(exec), native(node), &changed));
    return;
  }
  std::vector<void*> pointers = pointers_to(kernel, params.arguments);
  changed.kernelParams = pointers.empty() ? kernel.params.kernelParams : pointers.data();
  GRAPHSAN_DRIVER_CHECK(
      driver_.graph_exec_kernel_node_set_params(native(exec), native(node), &changed));
}

void CudaDevice::set_copy(GraphExecRef exec, NodeRef node, const CopyParams& params) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaGraphExecMemcpyNodeSetParams1D(native(exec), native(node),
                                                         params.destination, params.source,
                                                         params.bytes, cudaMemcpyDefault));
}

/// A driver may refuse another element width, so the node's own is kept where the size allows it.
void CudaDevice::set_fill(GraphExecRef exec, NodeRef node, const FillParams& params) {
  make_current();
  cudaMemsetParams changed{};
  GRAPHSAN_CUDA_CHECK(cudaGraphMemsetNodeGetParams(native(node), &changed));
  if (changed.elementSize == 0 || params.bytes % changed.elementSize != 0) changed.elementSize = 1;
  changed.dst = params.destination;
  changed.value = repeated(params.value, changed.elementSize);
  changed.width = params.bytes / changed.elementSize;
  GRAPHSAN_CUDA_CHECK(cudaGraphExecMemsetNodeSetParams(native(exec), native(node), &changed));
}

}  // namespace graphsan::device
