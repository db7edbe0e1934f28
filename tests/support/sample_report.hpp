#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/run_report.hpp"

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
  work.fields = {{"slot_mapping", 0, 8, true}, {"tokens", 8, 4, false}};
  work.addresses = {
      {"slot_mapping", 0, 0x7f0000001000ULL, model::OwnerKind::kNamedBuffer, "slot mapping"},
      {"+16", 16, 0x2a, model::OwnerKind::kUnknown, ""}};
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
                  true}};
  facts.outputs = {{2, 1, 2, true, 0.75, 0.125, 400, true, true},
                   {3, 1, 0, false, 0.5, 0.0625, 200, false, false}};
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
  facts.inputs = {{"slot mapping", 0x7f0000001000ULL, 0x7f0000002000ULL, false},
                  {"positions", 0x7f0000003000ULL, 0x7f0000003000ULL, true}};
  facts.stability = {true, false, 2, 0.0625, {"layer 1 key"}};
  facts.capture_metadata = "none";
  facts.padded_eager_ran = true;
  facts.rows_compared = 13056;
  facts.rows_left_out = 128;
  facts.replays = 4;
  facts.nodes = 57;
  return facts;
}

inline std::vector<model::Finding> sample_findings() {
  model::Finding elided;
  elided.mechanism = "elided-write";
  elided.status = model::FindingStatus::kConfirmed;
  elided.summary = "the graph holds no index-key write, so every replay leaves the rows untouched";
  elided.first_step = 1;
  elided.where = {
      {model::CacheKind::kIndexKey,
       1,
       {{33, 126}, {33, 127}, {2, 4}},
       7,
       "index_put",
       "layer 1 / insert"},
      {model::CacheKind::kKey, 1, {{33, 126}}, std::nullopt, std::nullopt, std::nullopt}};
  elided.evidence = {"the eager launch index_put has no node", "the same 3 rows on every replay"};
  elided.experiment = "captured again with live metadata: the 3 rows are right, 3 of 3 times";
  elided.sham = "captured again without it: the 3 rows are still missing";
  elided.fix = "build the attention metadata before capture";
  model::Finding padding;
  padding.mechanism = "padding-write";
  padding.status = model::FindingStatus::kSuspected;
  padding.summary = "pad lanes write the last row of the pool";
  padding.first_step = 2;
  padding.where = {
      {model::CacheKind::kIndexKey, 1, {{33, 127}}, std::nullopt, std::nullopt, std::nullopt}};
  padding.evidence = {"the stray row holds the bytes of pad lane 3"};
  padding.not_runnable = "padding sweep: the step has one bucket";
  padding.fix = "skip negative slots in every write";
  return {elided, padding};
}

/// One diverging case in which every field of every type has a value that is not its default.
inline model::CaseReport sample_case() {
  model::CaseReport report;
  report.index = 5;
  report.group = "padded";
  report.title = "fp8_e5m2 insert-kv-a piecewise decode, 3 tokens in a bucket of 4";
  report.config = {"minimax-m3",
                   "fp8_e5m2",
                   "insert-kv-a",
                   "piecewise",
                   "decode",
                   "nhd",
                   "a",
                   "software",
                   "elided-write:index-key",
                   3,
                   4,
                   4,
                   2,
                   8,
                   128,
                   4096,
                   0xfffffffffffffff1ULL,
                   true};
  report.reproduce = "graphsan check --kv-dtype fp8_e5m2 --write-path insert-kv-a --seed 1";
  report.verdict = model::Verdict::kDiverged;
  report.reason = "3 index-key rows are missing";
  report.failure =
      model::Failure{"experiment", 2, "the worker hung for 10 s", "raise the watchdog"};
  report.facts = sample_facts();
  report.findings = sample_findings();
  report.ruled_out = {{"numeric-noise", "the rows are missing, not rounded"},
                      {"moved-buffer", "no address differs between capture and replay"}};
  report.experiments = {{"second-capture", "live metadata at capture", "rows right",
                         "rows still missing", 3, true, ""},
                        {"padding-sweep", "", "", "", 0, false, "the step has one bucket"}};
  report.notes = {"bf16 with insert-kv runs the fused op"};
  report.not_covered = {"step 2 ran eagerly: longer than the capture limit of 512"};
  report.timing = {1.5, 0.75};
  report.seconds = 0.5;
  return report;
}

/// A case of which nothing but its words is set, and which agreed.
inline model::CaseReport agreed_case(int index, const std::string& path, const std::string& mode) {
  model::CaseReport report;
  report.index = index;
  report.group = "padded";
  report.config.kv_dtype = "fp8_e5m2";
  report.config.write_path = path;
  report.config.mode = mode;
  report.config.batch = "decode";
  report.config.layout = "nhd";
  report.config.generation = "a";
  report.config.convert = "software";
  report.config.tokens = 3;
  report.config.bucket = 4;
  report.verdict = model::Verdict::kAgreed;
  report.facts.rows_compared = 13056;
  report.facts.replays = 4;
  report.facts.nodes = 60;
  report.facts.stability.ran = true;
  report.facts.stability.stable = true;
  return report;
}

/// A run with every field set: one diverging case, one with a tool failure, one that agreed.
inline model::RunReport sample_report() {
  model::RunReport report;
  report.tool_version = "0.1.0";
  report.scenario = "seed";
  report.command = "graphsan check --scenario seed";
  report.started_at = "2025-01-02T03:04:05Z";
  report.environment = {"host",
                        "host (2 threads)",
                        "none",
                        "13.0",
                        "9.0",
                        "software",
                        "no CUPTI: launch times are not known",
                        "Linux"};
  model::CaseReport failed = agreed_case(6, "insert-kv-a", "full");
  failed.verdict = model::Verdict::kInconclusive;
  failed.reason = "the worker died";
  failed.failure = model::Failure{"replay", 3, "the worker was killed by signal 9", "run it again"};
  report.cases = {sample_case(), failed, agreed_case(7, "two-step", "full")};
  report.cases.back().config.step = "libengine.so";
  report.error_budgets = {
      {model::DType::kFp8E5M2, 2.5, 0.0449, 0.13, 0.045, true, {900, 80, 0, 3}}};
  report.capacities = {
      {model::DType::kFp8E5M2, 61440, 80ULL << 30, 1398101, "60 layers, TP 8, 80 GiB"}};
  report.limits = {"the workspace of the indexer is not hashed: it is scratch"};
  report.seconds = 1.75;
  report.complete = false;
  report.incomplete_reason = "interrupted by the user";
  model::conclude(report);
  return report;
}

}  // namespace graphsan::test
