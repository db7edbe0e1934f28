#pragma once

#include "probes/fault_ops/fault_common_ops.hpp"

// Every element op, X(Type) each; the kernels are instantiated from this list.
#define GRAPHSAN_FAULT_OPS(X) \
  X(SlotsFromStart)           \
  X(BusyWait)                 \
  X(CopyFloat)                \
  X(ScaleValues)
