#pragma once

#include <cstdint>
#include <span>

#include "device/device.hpp"
#include "step/minimax_m3/host_device.hpp"

namespace graphsan::faults {

/// An element op is a trivially copyable struct with `std::int64_t count`, a
/// `GRAPHSAN_HOST_DEVICE void operator()(std::int64_t i) const` for i in [0, count), a
/// `static constexpr const char* kName`, and a `static constexpr device::ArgumentFieldInfo
/// kFields[]`. Elements run in any order: in ascending order on the host, in parallel on CUDA; a
/// reduction is an op of one element that loops. Listed in fault_op_list.hpp.
///
/// Its kernel on both devices.
template <typename Op>
[[nodiscard]] const device::Kernel& element_kernel();

/// Launches `op` over all its elements; nothing for a count of zero.
template <typename Op>
void launch(device::Device& device, device::StreamRef stream, const Op& op) {
  if (op.count <= 0) return;
  constexpr std::uint32_t kThreads = 128;
  const auto blocks = static_cast<std::uint32_t>((op.count + kThreads - 1) / kThreads);
  device.launch(stream, element_kernel<Op>(), {.grid = {blocks, 1, 1}, .block = {kThreads, 1, 1}},
                &op);
}

/// Address of the `__global__` form; null in a build without CUDA.
template <typename Op>
[[nodiscard]] const void* element_symbol();

}  // namespace graphsan::faults
