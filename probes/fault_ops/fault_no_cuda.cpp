#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_op_list.hpp"

namespace graphsan::faults {

template <typename Op>
const void* element_symbol() {
  return nullptr;
}

#define GRAPHSAN_INSTANTIATE(Op) template const void* element_symbol<Op>();
GRAPHSAN_FAULT_OPS(GRAPHSAN_INSTANTIATE)
#undef GRAPHSAN_INSTANTIATE

}  // namespace graphsan::faults
