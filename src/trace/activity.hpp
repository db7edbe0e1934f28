#pragma once

#include <cstdint>
#include <string>

#include "device/kernel.hpp"

namespace graphsan::trace {

enum class ActivityKind : std::uint8_t { kKernel, kCopy, kFill };

/// One piece of work that a device really executed.
struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  std::string name;            ///< demangled kernel name; empty for copies and fills
  std::string label;           ///< what held when it was issued; empty: none, or not known
  std::uint64_t start_ns = 0;  ///< on the source's clock
  std::uint64_t end_ns = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  ///< of the call that issued it; all of one graph launch share one
  std::uint64_t graph_node = 0;   ///< id of the node that executed, or 0 outside a graph
  std::uint32_t graph = 0;        ///< id of the executable graph, or 0
  device::LaunchDims dims;        ///< kKernel
  std::uint64_t bytes = 0;        ///< kCopy, kFill
  std::uint32_t value = 0;        ///< kFill
};

}  // namespace graphsan::trace
