#pragma once

#include <string>
#include <vector>

#include "model/run_report.hpp"
#include "tests/support/sample_facts.hpp"

namespace graphsan::test {

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
