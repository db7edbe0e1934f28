#pragma once

#include <vector>

#include "device/node.hpp"
#include "model/graph.hpp"

namespace graphsan::trace {

/// The model's words for the device's kinds and extents.
[[nodiscard]] model::NodeType node_type(device::NodeKind kind);
[[nodiscard]] model::Extent3 extent(const device::Dim3& dims);

/// The fields that the kernel's author declared, offsets relative to its argument struct.
[[nodiscard]] std::vector<model::ArgumentField> argument_fields(const device::Kernel& kernel);

/// One launch, copy or fill as a value, numbered `id`. Its argument struct becomes one argument at
/// offset 0. Addresses are left empty; scan_addresses() finds them.
[[nodiscard]] model::Work to_work(const device::WorkRecord& record, int id);

/// One node of a graph as a value, numbered `id`, with what the device alone knows of it: no source
/// and no fields.
[[nodiscard]] model::Work to_work(const device::NodeInfo& node, int id);

}  // namespace graphsan::trace
