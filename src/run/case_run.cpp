#include "run/case_run.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "run/consequences.hpp"
#include "run/reference_compare.hpp"
#include "run/row_sorting.hpp"

namespace graphsan::run {

namespace {

/// A sink that no lane of the step must write.
bool is_idle_sink(const kvcache::CacheSet& caches, const StepLog& log, std::int64_t row) {
  return caches.is_sink(row) && !std::binary_search(log.expected.begin(), log.expected.end(), row);
}

/// Where two equal eager passes differ.
model::Stability compare_control(const kvcache::CacheSet& caches, const ArmLog& control,
                                 const ArmLog& eager) {
  model::Stability stability;
  stability.ran = true;
  std::set<std::string> unstable;
  for (std::size_t step = 0; step < eager.steps.size(); ++step) {
    const StepLog& a = control.steps[step];
    const StepLog& b = eager.steps[step];
    std::set<std::int64_t> rows{a.changed.begin(), a.changed.end()};
    rows.insert(b.changed.begin(), b.changed.end());
    for (const std::int64_t row : rows) {
      if (is_idle_sink(caches, b, row)) continue;
      const std::ptrdiff_t left = a.find(row);
      const std::ptrdiff_t right = b.find(row);
      if (left >= 0 && right >= 0 &&
          a.digests[static_cast<std::size_t>(left)] == b.digests[static_cast<std::size_t>(right)]) {
        continue;
      }
      ++stability.rows_differing;
      unstable.insert(caches.views()[static_cast<std::size_t>(caches.cache_of(row))].layout.name);
    }
    for (std::size_t i = 0; i < b.outputs.size(); ++i) {
      if (a.outputs[i].lanes == b.outputs[i].lanes) continue;
      ++stability.rows_differing;
      unstable.insert(b.outputs[i].layout.name);
    }
    for (std::size_t i = 0; i < b.selections.size(); ++i) {
      for (std::size_t j = 0; j < b.selections[i].scores.size(); ++j) {
        const double noise = std::abs(static_cast<double>(a.selections[i].scores[j]) -
                                      static_cast<double>(b.selections[i].scores[j]));
        if (std::isfinite(noise)) stability.max_noise = std::max(stability.max_noise, noise);
      }
    }
  }
  stability.stable = stability.rows_differing == 0;
  stability.unstable_caches.assign(unstable.begin(), unstable.end());
  return stability;
}

double median_ms(const ArmLog& log) {
  std::vector<double> times;
  for (const StepLog& step : log.steps) times.push_back(step.milliseconds);
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

class CaseRunner {
 public:
  CaseRunner(ArmRunner& runner, const CaseOptions& options)
      : runner_{runner}, options_{options}, steps_{plans(runner.step())} {}

  CaseRun run();

 private:
  void profile();
  void run_eager_arms();
  void run_graph();
  void collect();
  void note_capture();
  void list_uncovered();
  void collect_write_sets_and_rows();
  [[nodiscard]] bool diverged() const;
  /// Some arm changed a row that no slot names.
  [[nodiscard]] bool strayed() const;

  ArmRunner& runner_;
  CaseOptions options_;
  std::vector<model::StepFacts> steps_;
  CaseRun out_;
};

void CaseRunner::profile() {
  runner_.announce(model::Phase::kProfile, model::Arm::kControl, -1);
  runner_.step().reset(runner_.stream());
  PoolWatch watch{runner_.caches()};
  watch.rebase(runner_.stream());
  runner_.step().profile(runner_.stream());
  const std::vector<std::int64_t> rows = watch.changed(runner_.stream());
  if (!rows.empty()) {
    out_.notes.push_back("the profiling run, with no cache bound, changed " +
                         std::to_string(rows.size()) + " rows; it must write nothing");
  }
}

void CaseRunner::run_eager_arms() {
  PassOptions options;
  options.select = true;
  const ArmLog control = runner_.run_eager(step::Arm::kEager, model::Phase::kControl, options);
  options.reference = true;
  out_.eager = runner_.run_eager(step::Arm::kEager, model::Phase::kEager, options);
  out_.facts.stability = compare_control(runner_.caches(), control, out_.eager);
  if (options_.padded_eager) {
    PassOptions padded;
    padded.resync_to = &out_.eager;
    out_.padded_eager =
        runner_.run_eager(step::Arm::kPaddedEager, model::Phase::kPaddedEager, padded);
    out_.facts.padded_eager_ran = true;
  }
}

bool CaseRunner::diverged() const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const StepLog& eager = out_.eager.steps[i];
    const StepLog& graph = out_.graph.steps[i];
    if (eager.changed != graph.changed || eager.digests != graph.digests) return true;
    for (std::size_t j = 0; j < eager.outputs.size(); ++j) {
      if (eager.outputs[j].lanes != graph.outputs[j].lanes) return true;
    }
  }
  return false;
}

void CaseRunner::run_graph() {
  runner_.announce(model::Phase::kWarmUp, model::Arm::kGraph, -1);
  out_.capture = runner_.capture(options_.capture, options_.capture_over_history);
  PassOptions options;
  options.select = true;
  options.explain_against = &out_.eager;
  PassOptions carried = options;
  carried.resync = false;
  if (options_.carry) {
    out_.graph = runner_.replay(out_.capture, out_.eager, model::Phase::kCarried, carried);
    return;
  }
  out_.graph = runner_.replay(out_.capture, out_.eager, model::Phase::kReplay, options);
  // What a capture leaves in the caches shows its consequences only where it stays.
  if (diverged() || !out_.capture.left.empty()) {
    out_.carried = runner_.replay(out_.capture, out_.eager, model::Phase::kCarried, carried);
  }
}

void CaseRunner::note_capture() {
  const kvcache::CacheSet& caches = runner_.caches();
  for (int cache = 0; cache < static_cast<int>(caches.views().size()); ++cache) {
    const std::int64_t first = caches.first_row(cache);
    const std::int64_t last = first + caches.views()[static_cast<std::size_t>(cache)].layout.rows();
    model::CaptureChange change;
    change.cache = cache;
    std::size_t left = 0;
    for (const std::int64_t row : out_.capture.changed) {
      if (row < first || row >= last || caches.is_sink(row)) continue;
      change.rows.push_back(row - first);
      left += std::binary_search(out_.capture.left.begin(), out_.capture.left.end(), row) ? 1 : 0;
    }
    if (change.rows.empty()) continue;
    change.overwritten_by_history = left == 0;
    const model::CacheLayout& layout = caches.views()[static_cast<std::size_t>(cache)].layout;
    change.note = "warm-up and capture changed " + std::to_string(change.rows.size()) +
                  (change.rows.size() == 1 ? " row of " : " rows of ") + layout.name +
                  " (first: page " + std::to_string(layout.page_of(change.rows.front())) +
                  " slot " + std::to_string(layout.slot_of(change.rows.front())) + ")" +
                  (left == 0 ? "; the history written afterwards covers them"
                             : "; " + std::to_string(left) + " stay as they are");
    out_.notes.push_back(change.note);
    out_.facts.capture_changes.push_back(std::move(change));
  }
}

void CaseRunner::list_uncovered() {
  std::set<std::string> said;
  for (const model::StepFacts& step : steps_) {
    if (step.covered) continue;
    said.insert("step " + std::to_string(step.step) + " ran eagerly: " + step.uncovered_reason);
  }
  out_.not_covered.assign(said.begin(), said.end());
}

void CaseRunner::collect_write_sets_and_rows() {
  SortingInput input;
  input.caches = &runner_.caches();
  input.steps = &steps_;
  input.eager = &out_.eager;
  input.padded_eager = out_.padded_eager ? &*out_.padded_eager : nullptr;
  input.graph = &out_.graph;
  if (!options_.carry) {
    input.pattern = [](std::int64_t row, std::size_t bytes, int step) {
      return kvcache::pattern_bytes(row, bytes, row_pattern_seed(step));
    };
  }
  input.owner = [this](int cache, std::int64_t row) { return runner_.step().owner(cache, row); };
  for (const StepLog& step : out_.graph.steps) {
    for (const auto& [cache, rows] : step.lane_rows) input.lane_rows[{step.step, cache}] = rows;
  }
  SortedRows sorted = sort_rows(input);
  out_.facts.writes = std::move(sorted.writes);
  out_.facts.rows = std::move(sorted.rows);
  out_.facts.rows_dropped = sorted.dropped;
  out_.facts.rows_compared = sorted.compared;
  out_.facts.rows_left_out = sorted.left_out;
}

std::set<model::CacheKind> kinds_of_outputs(const ArmLog& log) {
  std::set<model::CacheKind> kinds;
  for (const StepLog& step : log.steps) {
    for (const OutputRows& output : step.outputs) kinds.insert(output.layout.kind);
  }
  return kinds;
}

void CaseRunner::collect() {
  model::Facts& facts = out_.facts;
  for (const kvcache::CacheView& view : runner_.caches().views()) {
    facts.caches.push_back(view.layout);
  }
  collect_write_sets_and_rows();
  const auto noise = static_cast<float>(facts.stability.max_noise);
  facts.top_k = compare_selections(steps_, out_.eager, out_.graph, noise, options_.carry);
  facts.outputs = compare_outputs(steps_, out_.eager, out_.graph, options_.carry);
  if (out_.carried) {
    const auto top_k = compare_selections(steps_, out_.eager, *out_.carried, noise, true);
    facts.top_k.insert(facts.top_k.end(), top_k.begin(), top_k.end());
    const auto outputs = compare_outputs(steps_, out_.eager, *out_.carried, true);
    facts.outputs.insert(facts.outputs.end(), outputs.begin(), outputs.end());
  }
  if (out_.padded_eager) mark_paddings(facts, *out_.padded_eager, out_.graph);
  facts.chain = build_chain(facts, kinds_of_outputs(out_.graph));
  facts.reference_ran = !out_.eager.steps.empty() && !out_.eager.steps.front().attended.empty();
  if (runner_.step().description().follows_reference) {
    facts.reference = compare_with_reference(runner_.caches(), steps_, out_.eager);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    model::StepFacts step = steps_[i];
    const StepLog& log = out_.graph.steps[i];
    for (const InputLog& input : log.inputs) {
      step.input_digest = step.input_digest * 31 + input.digest;
    }
    step.nonce_overwritten =
        std::all_of(log.outputs.begin(), log.outputs.end(),
                    [](const OutputRows& rows) { return rows.nonce_overwritten; });
    if (step.covered) {
      step.replayed_nodes =
          static_cast<int>(runner_.segment_nodes(*out_.capture.step, static_cast<int>(i)));
      ++facts.replays;
      facts.nodes =
          std::max<std::uint64_t>(facts.nodes, static_cast<std::uint64_t>(step.replayed_nodes));
    }
    facts.steps.push_back(std::move(step));
  }
  note_capture();
  list_uncovered();
  out_.timing = {median_ms(out_.eager), median_ms(out_.graph)};
}

bool CaseRunner::strayed() const {
  const auto leaves_slots = [this](const StepLog& log) {
    return std::any_of(log.changed.begin(), log.changed.end(), [&](std::int64_t row) {
      return !runner_.caches().is_sink(row) &&
             !std::binary_search(log.expected.begin(), log.expected.end(), row);
    });
  };
  return std::any_of(out_.eager.steps.begin(), out_.eager.steps.end(), leaves_slots) ||
         std::any_of(out_.graph.steps.begin(), out_.graph.steps.end(), leaves_slots);
}

CaseRun CaseRunner::run() {
  profile();
  run_eager_arms();
  run_graph();
  if (runner_.scope() == HashScope::kIncremental) {
    if (strayed()) {
      // Only a full pass after every step can say which step strayed.
      runner_.set_scope(HashScope::kFull);
      run_eager_arms();
      run_graph();
    } else {
      out_.notes.push_back(
          "the caches are large: between the first and the last step only the rows of the slot "
          "mapping were hashed; the full passes at both ends saw no other row change");
    }
  }
  collect();
  return std::move(out_);
}

}  // namespace

std::vector<model::StepFacts> plans(const step::Step& step) {
  std::vector<model::StepFacts> plans;
  for (int i = 0; i < step.description().steps; ++i) plans.push_back(step.plan(i));
  return plans;
}

CaseRun run_case(ArmRunner& runner, const CaseOptions& options) {
  return CaseRunner{runner, options}.run();
}

std::vector<model::RowDifference> differing(ArmRunner& runner, const ArmLog& eager,
                                            const ArmLog& graph) {
  const std::vector<model::StepFacts> steps = plans(runner.step());
  SortingInput input;
  input.caches = &runner.caches();
  input.steps = &steps;
  input.eager = &eager;
  input.graph = &graph;
  input.max_rows = SIZE_MAX;
  input.explain = false;
  return sort_rows(input).rows;
}

}  // namespace graphsan::run
