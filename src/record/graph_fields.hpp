#pragma once

#include "model/graph.hpp"

namespace graphsan::record {

template <typename Archive>
void fields(Archive& a, model::Extent3& v) {
  a("x", v.x);
  a("y", v.y);
  a("z", v.z);
}

template <typename Archive>
void fields(Archive& a, model::KernelArgument& v) {
  a("byte_offset", v.offset);
  a("bytes", v.bytes);
}

template <typename Archive>
void fields(Archive& a, model::ArgumentField& v) {
  a("name", v.name);
  a("byte_offset", v.offset);
  a("size", v.size);
  a("is_pointer", v.is_pointer);
  a("is_written", v.is_written);
}

template <typename Archive>
void fields(Archive& a, model::AddressUse& v) {
  a("field", v.field);
  a("byte_offset", v.offset);
  a("address", v.address);
  a("owner", v.owner);
  a("owner_name", v.owner_name);
  a("block", v.block);
  a("captured_owner", v.captured_owner);
  a("captured_owner_name", v.captured_owner_name);
  a("captured_block", v.captured_block);
}

template <typename Archive>
void fields(Archive& a, model::CopyOperands& v) {
  a("destination", v.destination);
  a("source", v.source);
  a("bytes", v.bytes);
}

template <typename Archive>
void fields(Archive& a, model::FillOperands& v) {
  a("destination", v.destination);
  a("bytes", v.bytes);
  a("value", v.value);
}

template <typename Archive>
void fields(Archive& a, model::Work& v) {
  a("id", v.id);
  a("type", v.type);
  a("name", v.name);
  a("source", v.source);
  a("grid", v.grid);
  a("block", v.block);
  a("shared_bytes", v.shared_bytes);
  a("copy", v.copy);
  a("fill", v.fill);
  a.table("arguments", v.arguments);
  a.table("fields", v.fields);
  a.table("addresses", v.addresses);
}

template <typename Archive>
void fields(Archive& a, model::GraphEdge& v) {
  a("from_node", v.from);
  a("to_node", v.to);
}

template <typename Archive>
void fields(Archive& a, model::GraphSegment& v) {
  a("bucket", v.bucket);
  a("segment", v.segment);
  a("break_after", v.break_after);
  a.table("nodes", v.nodes);
  a.table("edges", v.edges);
}

template <typename Archive>
void fields(Archive& a, model::Alignment& v) {
  a("kind", v.kind);
  a("launch", v.launch);
  a("segment", v.segment);
  a("node", v.node);
  a("name", v.name);
  a("source", v.source);
  a("differing_fields", v.differing_fields);
}

}  // namespace graphsan::record
