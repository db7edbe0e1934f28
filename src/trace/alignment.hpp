#pragma once

#include <span>
#include <vector>

#include "model/graph.hpp"

namespace graphsan::trace {

/// Sets the launches of an eager step beside the nodes of the segments that replace it.
///
/// A launch and a node correspond when type and name are equal and their sources are equal, or one
/// has none; of all order-preserving assignments the heaviest is taken. Launches left over are then
/// looked for in `break_work`, what the eager breaks of the replay ran: found there they count as
/// present, with segment -1. Only kernels, copies and fills take part.
///
/// Result: one line a launch, in order, each node without a launch (`kExtra`) before the launch
/// that its successor belongs to; then break work without a launch. `kOtherGrid` (grid or block)
/// comes before `kOtherArguments`; both name the scalars that differ. Batch-size scalars differ as
/// a matter of course between an exact and a padded batch.
[[nodiscard]] std::vector<model::Alignment> align(std::span<const model::Work> eager,
                                                  std::span<const model::GraphSegment> segments,
                                                  std::span<const model::Work> break_work);

}  // namespace graphsan::trace
