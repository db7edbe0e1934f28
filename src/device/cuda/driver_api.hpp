#pragma once

#include <cudaTypedefs.h>

namespace graphsan::device {

/// Entry points of the driver API that the runtime API has no form of, found at run time so that
/// the program needs no libcuda to start.
struct DriverApi {
  PFN_cuGraphKernelNodeGetParams_v12000 graph_kernel_node_get_params = nullptr;
  PFN_cuGraphExecKernelNodeSetParams_v12000 graph_exec_kernel_node_set_params = nullptr;
  PFN_cuKernelGetFunction_v12000 kernel_get_function = nullptr;
  PFN_cuFuncGetName_v12030 function_get_name = nullptr;
  PFN_cuFuncGetParamInfo_v12040 function_get_parameter_info = nullptr;
};

/// Looks all of them up. Throws DeviceError kNoDevice naming the one that the driver lacks.
[[nodiscard]] DriverApi load_driver_api();

}  // namespace graphsan::device
