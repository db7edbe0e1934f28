#include "sample_run.hpp"

#include <algorithm>
#include <cmath>

#include "sample_facts.hpp"

namespace graphsan::test {
namespace {

using namespace graphsan::model;

CaseConfig config_of(const std::string& dtype, const std::string& path, const std::string& mode,
                     int bucket) {
  CaseConfig config;
  config.kv_dtype = dtype;
  config.write_path = path;
  config.mode = mode;
  config.batch = "decode";
  config.layout = "nhd";
  config.generation = "a";
  config.convert = "software";
  config.tokens = kTokens;
  config.bucket = bucket;
  config.steps = kSteps;
  config.layers = 2;
  config.tp = 8;
  config.page_size = kPageSize;
  config.context = 4096;
  config.seed = 1;
  return config;
}

std::string command_of(const CaseConfig& config) {
  return "graphsan check --kv-dtype " + config.kv_dtype + " --write-path " + config.write_path +
         " --mode " + config.mode + " --tokens " + std::to_string(config.tokens) + " --bucket " +
         std::to_string(config.bucket) + " --seed 1 --device host";
}

std::vector<PageSlot> rows_written(int steps) {
  std::vector<PageSlot> rows;
  for (int step = 0; step < steps; ++step) {
    for (int lane = 0; lane < kTokens; ++lane) {
      const std::int64_t row = sample_row(lane, 4094 + step);
      rows.push_back({row / kPageSize, row % kPageSize});
    }
  }
  return rows;
}

Finding elided_write() {
  Finding finding;
  finding.mechanism = "elided-write";
  finding.status = FindingStatus::kConfirmed;
  finding.summary =
      "The cache write is not in the graph: at capture there was no attention metadata, so "
      "insert-kv "
      "returned without launching anything, and every replay leaves K, V and index-K unwritten.";
  for (const CacheKind kind : {CacheKind::kIndexKey, CacheKind::kKey, CacheKind::kValue}) {
    finding.where.push_back({kind, 1, rows_written(kSteps), std::nullopt,
                             kind == CacheKind::kIndexKey
                                 ? "index_put_kernel"
                                 : "reshape_and_cache_flash_kernel<bf16, fp8_e5m2>",
                             "layer 1 / insert"});
  }
  finding.evidence = {
      "The graph wrote none of the 60 rows that eager wrote, in each of 4 replays.",
      "3 eager launches have no node: reshape_and_cache_flash_kernel (twice) and index_put_kernel.",
      "The pattern placed before each step is still in every missing row."};
  finding.experiment =
      "Captured again with live metadata: all 60 rows became right, in 3 of 3 repeats.";
  finding.sham = "Captured again without metadata: the same 60 rows were still missing.";
  finding.fix =
      "Pass the slot mapping to the write as a device buffer that is refilled in place, or "
      "make insert an eager break (--mode breakable).";
  return finding;
}

Finding padding_write() {
  Finding finding;
  finding.mechanism = "padding-write";
  finding.status = FindingStatus::kConfirmed;
  finding.summary =
      "A pad lane writes index-K at slot -1, which indexing takes for the last row: page 99, slot "
      "127, a live row of sequence 0.";
  finding.where = {{CacheKind::kIndexKey,
                    1,
                    {{kPages - 1, kPageSize - 1}},
                    2,
                    "index_put_kernel",
                    "layer 1 / insert"}};
  finding.evidence = {"One stray row in each of 4 steps, always the pool's last.",
                      "Its bytes are those of pad lane 3.",
                      "The padded-eager arm shows the same row: padding, not capture."};
  finding.experiment =
      "Replayed with 4 real lanes in the bucket of 4: no stray row, in 3 of 3 repeats.";
  finding.sham = "Replayed with 3 real lanes again: the stray row was there.";
  finding.fix = "Skip negative slots in the index-K write, as reshape_and_cache_flash does.";
  return finding;
}

std::vector<RuledOut> ruled_out(const std::string& than) {
  std::vector<RuledOut> list = {
      {"numeric-noise",
       "Rows are absent or written elsewhere; no value that both arms wrote differs."},
      {"moved-buffer", "The slot mapping has the same address at capture and at replay."},
      {"stale-contents", "Every input of the graph has eager's contents when it is replayed."},
      {"missing-dependency", "Serialised replay gives the same rows, in 3 of 3 repeats."}};
  list.push_back({than, "The write sets do not fit: see the slot map."});
  return list;
}

CaseReport case_of(const CaseConfig& config, const std::string& group, Damage damage) {
  CaseReport report;
  report.group = group;
  report.config = config;
  report.reproduce = command_of(config);
  report.facts =
      sample_facts(parse_dtype(config.kv_dtype).value_or(DType::kBf16), damage, config.bucket);
  report.verdict = damage == Damage::kNone ? Verdict::kAgreed : Verdict::kDiverged;
  report.notes = {"Warm-up and capture wrote no row of a live sequence."};
  report.not_covered = {"Prefill steps: this case decodes only."};
  report.timing = {1.92, config.kv_dtype == "bf16" ? 0.61 : 0.68};
  report.seconds = 0.21;
  if (damage == Damage::kNone) return report;
  const bool elided = damage == Damage::kElided;
  report.findings.push_back(elided ? elided_write() : padding_write());
  report.ruled_out = ruled_out(elided ? "padding-write" : "elided-write");
  const Finding& finding = report.findings.front();
  report.experiments = {
      {elided ? "capture again with live metadata" : "padding sweep",
       elided ? "metadata at capture: none to live" : "real lanes: 3 to 4", finding.experiment,
       finding.sham, 3, true, ""},
      {"serialised replay", "an edge between each pair of nodes in creation order",
       "the same rows differ", "the same rows differ", 3, false, ""},
      {"source swap", "source of each host copy node", "", "", 0, false,
       "the graph has no copy node from host memory"}};
  return report;
}

/// A recording keeps the bytes of a case's first rows only.
constexpr std::int64_t kRowsWithBytes = 20000;

Damage expected_damage(const CaseConfig& config) {
  if (config.write_path == "insert-kv-a" && config.mode == "piecewise") return Damage::kElided;
  if (config.write_path.starts_with("insert-kv") && config.padded()) return Damage::kPadding;
  return Damage::kNone;
}

void add_matrix(RunReport& run, const std::string& group, int bucket) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"bf16", "fused"},           {"fp8_e5m2", "fused"},       {"fp8_e5m2", "two-step"},
      {"fp8_e5m2", "insert-kv-a"}, {"fp8_e5m2", "insert-kv-b"}, {"fp8_e4m3", "insert-kv-a"}};
  for (const auto& [dtype, path] : rows) {
    for (const char* mode : {"piecewise", "breakable", "full"}) {
      const CaseConfig config = config_of(dtype, path, mode, bucket);
      run.cases.push_back(case_of(config, group, expected_damage(config)));
      run.cases.back().index = static_cast<int>(run.cases.size()) - 1;
    }
  }
}

/// The last three cases of the seed's scenario: body A, index-K alone elided, the fixed path.
void add_needle(RunReport& run) {
  const std::string group = "needle: a prompt prefilled through the graph, then decoded";
  const auto add = [&](const char* path, const char* title, const char* fault, Damage damage) {
    CaseConfig config = config_of("fp8_e5m2", path, "piecewise", kBucket);
    config.fault = fault;
    run.cases.push_back(case_of(config, group, damage));
    run.cases.back().title = title;
  };
  add("insert-kv-a", "body A", "", Damage::kElided);
  add("two-step", "index-K alone elided", "elided-write:index-key", Damage::kElided);
  add("two-step", "the fixed path", "", Damage::kNone);
}

CaseReport failed_case() {
  CaseReport report = case_of(config_of("fp8_e4m3", "insert-kv-b", "full", kBucket),
                              "decode, padded: 3 of 4 lanes real", Damage::kNone);
  report.verdict = Verdict::kInconclusive;
  report.facts = {};
  report.failure = Failure{"replay", 2, "The worker was killed by signal 9 (SIGKILL).",
                           "Look for the out-of-memory killer, then run this case alone."};
  report.reason = "The case did not finish, so nothing is said about its rows.";
  return report;
}

ErrorBudget budget_of(DType dtype, double mean, double attention) {
  ErrorBudget budget{dtype, 2.0, mean, attention, mean, true, {}};
  for (int bin = 0; bin < 16; ++bin) {
    const double centre = (bin + 0.5) / 64.0;
    const double width = 1.6 * mean;
    budget.histogram.push_back(
        static_cast<std::uint64_t>(262144 * std::exp(-centre * centre / (2 * width * width))));
  }
  return budget;
}

Environment environment_of(const std::string& device, const std::string& name) {
  Environment environment;
  environment.device = device;
  environment.device_name = name;
  environment.conversion = device == "host" ? "software" : "native";
  environment.tracing =
      device == "host" ? "not needed: the host device sees every launch" : "CUPTI 13.0";
  environment.operating_system = "Debian GNU/Linux 12";
  if (device == "host") return environment;
  environment.driver = "580.82";
  environment.cuda_runtime = "13.0";
  environment.compute_capability = "9.0";
  return environment;
}

RunReport frame(const std::string& device, const std::string& name) {
  RunReport run;
  run.tool_version = "0.1.0";
  run.scenario = "seed";
  run.command = "graphsan check --scenario seed --device " + device + " --html seed.html";
  run.started_at = "2026-11-30T15:00:00Z";
  run.environment = environment_of(device, name);
  run.error_budgets = {budget_of(DType::kBf16, 0.0014, 0.004),
                       budget_of(DType::kFp8E4M3, 0.0241, 0.071),
                       budget_of(DType::kFp8E5M2, 0.0449, 0.138)};
  run.capacities = {
      {DType::kBf16, 31744, 80ULL << 30U, 2705866, "60 layers, TP 8, 80 GiB for caches"},
      {DType::kFp8E5M2, 30208, 80ULL << 30U, 2843454, "60 layers, TP 8, 80 GiB for caches"}};
  run.limits = {"Query and output projections are not hashed: no cache holds them.",
                "One rank only."};
  run.seconds = 6.4;
  return run;
}

}  // namespace

RunReport seed_run() {
  RunReport run = frame("host", "host simulation, 2 threads");
  add_matrix(run, "decode, padded: 3 of 4 lanes real", kBucket);
  run.cases.push_back(failed_case());
  add_matrix(run, "decode, full bucket: 3 lanes", kTokens);
  add_needle(run);
  for (std::size_t i = 0; i < run.cases.size(); ++i) run.cases[i].index = static_cast<int>(i);
  conclude(run);
  return run;
}

RunReport agreed_run() {
  RunReport run = frame("cuda", "NVIDIA H200");
  for (const char* mode : {"piecewise", "full"}) {
    run.cases.push_back(
        case_of(config_of("fp8_e5m2", "two-step", mode, kBucket), "fixed path", Damage::kNone));
  }
  conclude(run);
  return run;
}

RunReport interrupted_run() {
  RunReport run = seed_run();
  run.cases.resize(10);
  run.complete = false;
  run.incomplete_reason = "It was interrupted (SIGINT) in case 11 of 37.";
  conclude(run);
  return run;
}

RunReport hostile_run() {
  RunReport run = frame("host", kHostileText);
  run.scenario = kHostileText;
  run.command = kHostileText;
  CaseReport report = case_of(config_of("fp8_e5m2", "insert-kv-a", "piecewise", kBucket),
                              kHostileText, Damage::kElided);
  report.title = kHostileText;
  for (CacheLayout& cache : report.facts.caches) cache.name += kHostileText;
  for (Work& work : report.facts.eager_launches) work.name = work.source = kHostileText;
  for (Alignment& line : report.facts.alignment) line.name = line.source = kHostileText;
  Finding& finding = report.findings.front();
  finding.summary = finding.fix = finding.mechanism = kHostileText;
  finding.evidence = {kHostileText};
  for (Where& where : finding.where) where.kernel = where.source = kHostileText;
  report.notes = {kHostileText, "not UTF-8: \xff\xfe"};
  run.cases.push_back(std::move(report));
  conclude(run);
  return run;
}

RunReport large_run(std::int64_t rows) {
  RunReport run = frame("cuda", "NVIDIA H200");
  CaseReport report = case_of(config_of("fp8_e5m2", "insert-kv-a", "piecewise", kBucket),
                              "large pool", Damage::kElided);
  Facts& facts = report.facts;
  const RowDifference with_bytes = facts.rows.front();
  RowDifference sample = with_bytes;
  sample.eager_bytes.clear();
  sample.graph_bytes.clear();
  CacheLayout& cache = facts.caches[static_cast<std::size_t>(sample.cache)];
  cache.pages = (rows + kPageSize - 1) / kPageSize;
  facts.rows.assign(static_cast<std::size_t>(rows), sample);
  std::fill_n(facts.rows.begin(), std::min<std::int64_t>(rows, kRowsWithBytes), with_bytes);
  facts.writes.resize(1);
  facts.writes[0].expected.clear();
  for (std::int64_t row = 0; row < rows; ++row) {
    facts.rows[static_cast<std::size_t>(row)].row = row;
    facts.writes[0].expected.push_back(row);
  }
  facts.writes[0].eager = facts.writes[0].expected;
  run.cases.push_back(std::move(report));
  conclude(run);
  return run;
}

}  // namespace graphsan::test
