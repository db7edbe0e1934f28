#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_op_list.hpp"

namespace graphsan::faults {

namespace {

template <typename Op>
__global__ void run_elements(Op op) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < op.count) op(i);
}

}  // namespace

template <typename Op>
const void* element_symbol() {
  return reinterpret_cast<const void*>(&run_elements<Op>);
}

#define GRAPHSAN_INSTANTIATE(Op) template const void* element_symbol<Op>();
GRAPHSAN_FAULT_OPS(GRAPHSAN_INSTANTIATE)
#undef GRAPHSAN_INSTANTIATE

}  // namespace graphsan::faults
