#include "probes/fault_ops/fault_element_op.hpp"

#include <algorithm>

#include "probes/fault_ops/fault_op_list.hpp"

namespace graphsan::faults {

namespace {

/// Does what the grid would: a grid left over from a smaller batch leaves elements out.
template <typename Op>
void run_on_host(const device::LaunchDims& dims, const void* arguments) {
  const Op& op = *static_cast<const Op*>(arguments);
  const std::int64_t covered = static_cast<std::int64_t>(dims.grid.x) * dims.block.x;
  for (std::int64_t i = 0; i < std::min(covered, op.count); ++i) op(i);
}

}  // namespace

template <typename Op>
const device::Kernel& element_kernel() {
  static const device::Kernel kernel{Op::kName, element_symbol<Op>(), &run_on_host<Op>, sizeof(Op),
                                     Op::kFields};
  return kernel;
}

#define GRAPHSAN_INSTANTIATE(Op) template const device::Kernel& element_kernel<Op>();
GRAPHSAN_FAULT_OPS(GRAPHSAN_INSTANTIATE)
#undef GRAPHSAN_INSTANTIATE

}  // namespace graphsan::faults
