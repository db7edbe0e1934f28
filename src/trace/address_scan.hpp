#pragma once

#include <cstdint>
#include <vector>

#include "device/address_map.hpp"
#include "device/device.hpp"
#include "model/graph.hpp"

namespace graphsan::trace {

/// The addresses among a piece of work's operands, ordered by offset.
///
/// Every 8-byte word at an 8-aligned offset of the parameter buffer is tried as an address, also
/// inside structs and descriptors, and resolved in `map` at `epoch`. A word is kept if the map
/// knows its owner. Pointers by declaration are kept even when unknown or null: declared pointer
/// fields, at whatever offset, and the operands of copies and fills (`destination` at offset 0,
/// `source` at offset 8). With a device, words that the map does not know and that the device says
/// are addresses of device or pinned memory are kept too, where nobody declared the fields: a
/// framework's tensors.
[[nodiscard]] std::vector<model::AddressUse> scan_addresses(const model::Work& work,
                                                            const device::AddressMap& map,
                                                            std::uint64_t epoch,
                                                            const device::Device* device = nullptr);

/// Fills in the addresses of every node of `segment`.
void resolve_addresses(model::GraphSegment& segment, const device::AddressMap& map,
                       std::uint64_t epoch, const device::Device* device = nullptr);

/// Fills in who owned each address of the nodes when the capture ended.
void resolve_captured(model::GraphSegment& segment, const device::AddressMap& captured);

[[nodiscard]] model::OwnerKind owner_of(device::Owner owner);

}  // namespace graphsan::trace
