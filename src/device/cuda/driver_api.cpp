#include "device/cuda/driver_api.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "device/cuda/check.hpp"

namespace graphsan::device {
namespace {

/// `version` is the CUDA version whose form of the function `Function` describes.
template <typename Function>
void load(Function& function, const char* name, unsigned int version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  GRAPHSAN_CUDA_CHECK(
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || address == nullptr) {
    throw DeviceError{ErrorKind::kNoDevice,
                      fmt::format("the driver has no {}; install a newer driver", name)};
  }
  function = reinterpret_cast<Function>(address);
}

}  // namespace

DriverApi load_driver_api() {
  DriverApi api;
  load(api.graph_kernel_node_get_params, "cuGraphKernelNodeGetParams", 12000);
  load(api.graph_exec_kernel_node_set_params, "cuGraphExecKernelNodeSetParams", 12000);
  load(api.kernel_get_function, "cuKernelGetFunction", 12000);
  load(api.function_get_name, "cuFuncGetName", 12030);
  load(api.function_get_parameter_info, "cuFuncGetParamInfo", 12040);
  return api;
}

}  // namespace graphsan::device
