#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "device/device.hpp"

namespace graphsan::test {

/// A kernel of the host device alone. `Op` is trivially copyable, with `kName`,
/// `fields()`, a `count`, and `void operator()(std::int64_t i) const` for each element that the
/// grid covers.
template <typename Op>
[[nodiscard]] const device::Kernel& element_kernel() {
  static const device::Kernel kernel{
      Op::kName, nullptr,
      [](const device::LaunchDims& dims, const void* arguments) {
        const Op& op = *static_cast<const Op*>(arguments);
        const std::int64_t covered = static_cast<std::int64_t>(dims.grid.x) * dims.block.x;
        for (std::int64_t i = 0; i < std::min(covered, op.count); ++i) op(i);
      },
      sizeof(Op), Op::fields()};
  return kernel;
}

/// Launches `op` over all its elements.
template <typename Op>
void launch(device::Device& device, device::StreamRef stream, const Op& op) {
  if (op.count <= 0) return;
  constexpr std::uint32_t kThreads = 128;
  const auto blocks = static_cast<std::uint32_t>((op.count + kThreads - 1) / kThreads);
  device.launch(stream, element_kernel<Op>(), {.grid = {blocks, 1, 1}, .block = {kThreads, 1, 1}},
                &op);
}

}  // namespace graphsan::test
