#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "device/cuda/driver_api.hpp"
#include "device/cuda/packed_arguments.hpp"
#include "device/node.hpp"

namespace graphsan::device {

/// A kernel node as the driver holds it, ready to be given back with other arguments.
struct KernelNode {
  CUDA_KERNEL_NODE_PARAMS_v2 params{};
  CUfunction function = nullptr;     ///< resolved from `kern` where the driver left `func` null
  std::vector<ParameterSlot> slots;  ///< one per parameter, in order

  /// The arguments came as one buffer (`extra`) and not as an array of pointers.
  [[nodiscard]] bool packed() const noexcept {
    return params.kernelParams == nullptr && params.extra != nullptr;
  }
};

/// Reads a kernel node. The pointers inside belong to the graph and live as long as its node.
/// Throws DeviceError.
[[nodiscard]] KernelNode read_kernel_node(const DriverApi& driver, cudaGraphNode_t node);

/// How the packed buffer of `kernel` is divided: as the driver says, or whole where it does not say
/// or says more than the buffer holds. Throws DeviceError kNotSupported when there is no buffer.
[[nodiscard]] std::vector<ParameterSlot> packed_slots(const KernelNode& kernel);

/// Reads one node of a graph as a value.
///
/// Operands that cannot be expressed (pitched and array copies, multi-byte patterns, arguments that
/// the driver does not describe) leave `unreadable` set and the node otherwise whole. Throws
/// DeviceError only where the node's type cannot be read.
[[nodiscard]] NodeInfo read_node(const DriverApi& driver, cudaGraphNode_t node);

}  // namespace graphsan::device
