#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/facts.hpp"

namespace graphsan::test {

inline std::vector<std::byte> sample_bytes(int count, int seed) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>((seed + 37 * i) & 0xFF));
  return bytes;
}

inline model::CacheLayout sample_layout(model::CacheKind kind, int layer) {
  model::CacheLayout layout;
  layout.name = "layer " + std::to_string(layer) + " " + std::string{to_string(kind)};
  layout.kind = kind;
  layout.layer = layer;
  layout.dtype = model::DType::kFp8E5M2;
  layout.pages = 34;
  layout.page_size = 128;
  layout.heads = 1;
  layout.dim = 16;
  layout.page_stride = 128 * 16;
  layout.slot_stride = 16;
  layout.head_stride = 8;
  layout.sinks = {{0, 128}, {256, 257}};
  return layout;
}

/// Two row differences: a missing index-key row of a live token and a stray last row.
inline std::vector<model::RowDifference> sample_rows() {
  model::RowDifference missing;
  missing.step = 1;
  missing.cache = 1;
  missing.row = 33 * 128 + 126;
  missing.row_class = model::RowClass::kMissing;
  missing.origin = {model::OriginKind::kEarlierStep, 7, 2, 5, {"also the row of lane 2"}};
  missing.places = {model::Place::kLiveRow, model::Place::kEarlierBatch};
  missing.owner = model::LogicalRow{2, 4094, 1, model::CacheKind::kIndexKey};
  missing.lane = 2;
  missing.padded_eager_shows_it = true;
  missing.eager = {0x0123456789abcdefULL};
  missing.graph = {0xfedcba9876543210ULL};
  missing.value = {model::ValueKind::kConstantRatio, 0.5, 12, 16};
  missing.eager_bytes = sample_bytes(16, 1);
  missing.graph_bytes = sample_bytes(16, 90);
  model::RowDifference stray;
  stray.step = 2;
  stray.cache = 1;
  stray.row = 34 * 128 - 1;
  stray.row_class = model::RowClass::kStray;
  stray.origin.kind = model::OriginKind::kPadLane;
  stray.origin.lane = 3;
  stray.places = {model::Place::kLastRow};
  stray.eager = {1};
  stray.graph = {2};
  return {missing, stray};
}

inline model::Work sample_kernel(int id, const std::string& name) {
  model::Work work;
  work.id = id;
  work.type = model::NodeType::kKernel;
  work.name = name;
  work.source = "layer 1 / insert";
  work.grid = {4, 2, 3};
  work.block = {128, 1, 2};
  work.shared_bytes = 1024;
  work.arguments = {{0, sample_bytes(8, 3)}, {8, sample_bytes(4, 4)}};
  work.fields = {{"slot_mapping", 0, 8, true, true}, {"tokens", 8, 4, false, false}};
  work.addresses = {
      {"slot_mapping", 0, 0x7f0000001040ULL, model::OwnerKind::kNamedBuffer, "slot mapping",
       0x7f0000001000ULL, model::OwnerKind::kFreeBlock, "a temporary", 0xffff000000001000ULL},
      {"+16", 16, 0x2a, model::OwnerKind::kUnknown, "", 0, model::OwnerKind::kUnknown, "", 0}};
  return work;
}

inline std::vector<model::GraphSegment> sample_segments() {
  model::Work copy;
  copy.id = 1;
  copy.type = model::NodeType::kMemcpy;
  copy.name = "memcpy";
  copy.source = "step.cpp:12";
  copy.copy = model::CopyOperands{0xffff000000000000ULL, 0x2000, 64};
  model::Work fill;
  fill.id = 2;
  fill.type = model::NodeType::kMemset;
  fill.name = "memset";
  fill.fill = model::FillOperands{0x3000, 128, 0xdeadbeef};
  model::GraphSegment segment;
  segment.bucket = 4;
  segment.segment = 1;
  segment.nodes = {sample_kernel(0, "reshape_and_cache"), copy, fill};
  segment.edges = {{0, 1}, {1, 2}};
  segment.break_after = "attention";
  return {segment};
}

/// What the padded batch launched, and what escaped the capture.
inline void add_sample_arms(model::Facts& facts) {
  const std::vector<model::Work> nodes = sample_segments()[0].nodes;
  facts.padded_launches = nodes;
  facts.padded_alignment = {
      {model::AlignmentKind::kOtherGrid, 1, 1, 2, "reshape_and_cache", "layer 1", {"grid"}}};
  facts.escaped = {nodes[2], sample_kernel(3, "index_put"), nodes[1]};
  facts.other_graphs = {{9, true, {"reshape_and_cache", "index_put"}}, {3, false, {}}};
  facts.unordered = {{1, 2, 4, "index-key pool", true}};
}

/// Inputs, the step's own state, and where eager differs from the reference.
inline void add_sample_state(model::Facts& facts) {
  facts.inputs = {
      {"slot mapping", 0x7f0000001000ULL, 0x7f0000002000ULL, false, false, 2, true, 3, 2, 1},
      {"qkv", 0x7f0000003000ULL, 0x7f0000003000ULL, true, true, -1, false, 1, 0, 0}};
  facts.opaque = {{"top-k counter", 64, true, true}, {"seed", 8, false, false}};
  facts.reference = {
      {2, model::CacheKind::kIndexKey, 1, 2, 4350, {model::ValueKind::kOtherDtype, 0.25, 7, 16}},
      {3, model::CacheKind::kOutput, 1, 0, -1, {}}};
}

inline model::Facts sample_facts() {
  model::Facts facts;
  facts.caches = {sample_layout(model::CacheKind::kKey, 1),
                  sample_layout(model::CacheKind::kIndexKey, 1)};
  facts.cache_buffers = {"key pool", "index-key pool"};
  facts.steps = {
      {1,
       "decode",
       3,
       4,
       true,
       "",
       {{true, 2, 4094, 4350, 4350}, {false, -1, -1, -1, 7}},
       0x8000000000000001ULL,
       12,
       true},
      {2, "prefill", 700, 700, false, "longer than the capture limit of 512", {}, 5, 0, false}};
  facts.writes = {{1, 1, {4350}, {4350}, {4350, 4351}, {4351}, 9}};
  facts.rows = sample_rows();
  facts.rows_dropped = 6;
  facts.top_k = {{2,
                  1,
                  2,
                  3,
                  true,
                  model::TopKKind::kMismatch,
                  {1, 2, 30},
                  {1, 2, 3},
                  {30},
                  {3},
                  {2.5F, 1.25F},
                  {0.1F, 0.1F},
                  1.25F,
                  true,
                  true}};
  facts.outputs = {{2, 1, 2, true, 0.75, 0.125, 400, true, true, true},
                   {3, 1, 0, false, 0.5, 0.0625, 200, false, false, false}};
  facts.chain = {{model::ChainStage::kIndexKeyWrite, true, true, 1, 1, "3 rows missing"},
                 {model::ChainStage::kScore, true, false, 2, 1, ""},
                 {model::ChainStage::kTopK, true, false, 2, 1, "needle block 30 lost"},
                 {model::ChainStage::kNextLayer, false, false, -1, -1, ""}};
  facts.capture_changes = {{1, {0, 1}, true, "warm-up wrote page 0"}};
  facts.segments = sample_segments();
  facts.eager_launches = {sample_kernel(0, "reshape_and_cache"), sample_kernel(1, "index_put"),
                          sample_segments()[0].nodes[1], sample_segments()[0].nodes[2]};
  facts.alignment = {
      {model::AlignmentKind::kMatched, 0, 1, 0, "reshape_and_cache", "layer 1 / insert", {}},
      {model::AlignmentKind::kOtherArguments, 1, 1, 2, "index_put", "layer 1", {"tokens"}}};
  add_sample_arms(facts);
  add_sample_state(facts);
  facts.stability = {true, false, 2, 0.0625, {"layer 1 key"}};
  facts.capture_metadata = "none";
  facts.padded_eager_ran = true;
  facts.padded_launches_captured = true;
  facts.reference_ran = true;
  facts.rows_compared = 13056;
  facts.rows_left_out = 128;
  facts.replays = 4;
  facts.nodes = 57;
  return facts;
}

}  // namespace graphsan::test
