#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "device/kernel.hpp"
#include "device/node.hpp"

namespace graphsan::device::host {

/// A kernel launch with its argument struct as it was at the call.
struct KernelWork {
  const Kernel* kernel = nullptr;
  LaunchDims dims;
  std::vector<std::byte> arguments;
};

/// What a stream executes or a graph node holds.
using Work = std::variant<KernelWork, CopyParams, FillParams>;

/// Does the work, now. Throws kSticky when a kernel's host form throws.
void execute(const Work& work);

/// Kind and name of the graph node that holds `work`.
[[nodiscard]] NodeKind node_kind(const Work& work);
[[nodiscard]] std::string node_name(const Work& work);

/// The work as a listener sees it, without label and `captured`.
[[nodiscard]] WorkRecord describe(const Work& work);

/// Throw kInvalidArgument, naming `call`, for what CUDA would refuse.
void check_dims(const char* call, const LaunchDims& dims);
void check_address(const char* call, const void* address);

}  // namespace graphsan::device::host
