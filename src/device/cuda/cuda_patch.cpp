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

/// Throws unless `arguments` lie where the node's own do, one by one.
void check_arguments(const std::vector<ParameterSlot>& slots,
                     const std::vector<Argument>& arguments) {
  if (arguments.size() != slots.size()) {
    refuse(fmt::format("the kernel takes {} arguments, not {}", slots.size(), arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].offset == slots[i].offset && arguments[i].bytes.size() == slots[i].size) {
      continue;
    }
    refuse(fmt::format("argument {} is {} bytes at offset {}, not {} at {}", i, slots[i].size,
                       slots[i].offset, arguments[i].bytes.size(), arguments[i].offset));
  }
}

std::vector<void*> pointers_to(const std::vector<Argument>& arguments) {
  std::vector<void*> pointers;
  pointers.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    pointers.push_back(const_cast<std::byte*>(argument.bytes.data()));
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
    check_arguments(packed_slots(kernel), params.arguments);
    const PackedBuffer original = walk_packed_list(kernel.params.extra);
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
  check_arguments(kernel.slots, params.arguments);
  std::vector<void*> pointers = pointers_to(params.arguments);
  if (!pointers.empty()) changed.kernelParams = pointers.data();
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
