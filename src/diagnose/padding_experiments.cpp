#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "diagnose/experiment_parts.hpp"
#include "diagnose/step_experiments.hpp"
#include "run/consequences.hpp"

namespace graphsan::diagnose {

namespace {

/// One lane of an input, filled with a bf16 value; empty where it is no activation of bf16 or f32.
std::vector<std::byte> activation(const step::InputView& input, std::uint16_t bf16) {
  if (!input.is_activation) return {};
  const auto bytes = static_cast<std::size_t>(input.lane_bytes);
  std::vector<std::byte> lane(bytes);
  // A bf16 is the upper half of the f32 of the same value.
  const std::uint32_t f32 = std::uint32_t{bf16} << 16;
  const bool wide = input.dtype == model::DType::kF32;
  if (!wide && input.dtype != model::DType::kBf16) return {};
  const std::size_t size = wide ? sizeof(f32) : sizeof(bf16);
  const void* value = wide ? static_cast<const void*>(&f32) : &bf16;
  for (std::size_t at = 0; at + size <= bytes; at += size) std::memcpy(&lane[at], value, size);
  return lane;
}

/// The slot mapping of one step and kind of cache.
class Mapping {
 public:
  Mapping(const model::StepFacts& step, model::CacheKind kind) : step_{&step}, kind_{kind} {}

  [[nodiscard]] std::int64_t row_of(std::size_t lane) const {
    const model::Lane& one = step_->lanes.at(lane);
    return kind_ == model::CacheKind::kIndexKey ? one.index_slot : one.slot;
  }
  /// The lane that must write the row; empty where none must.
  [[nodiscard]] std::optional<std::size_t> lane_of(std::int64_t row) const {
    for (std::size_t lane = 0; lane < step_->lanes.size(); ++lane) {
      if (step_->lanes[lane].real && row_of(lane) == row) return lane;
    }
    return std::nullopt;
  }

 private:
  const model::StepFacts* step_;
  model::CacheKind kind_;
};

/// The row that plays the part of `key` with another number of lanes: its lane's, which in a
/// prefill is another token's there. A row that no lane must write stays itself, unless a lane must
/// write it there: then nothing can be said of it.
std::optional<RowKey> counterpart(const RowKey& key, model::CacheKind kind,
                                  const model::StepFacts& before, const model::StepFacts& after) {
  if (key.kind != SpotKind::kRow) return key;
  const Mapping there{after, kind};
  RowKey other = key;
  if (const auto lane = Mapping{before, kind}.lane_of(key.row)) {
    other.row = there.row_of(*lane);
    if (other.row < 0) return std::nullopt;
    return other;
  }
  if (there.lane_of(key.row)) return std::nullopt;
  return other;
}

}  // namespace

StepExperiments::Wrong StepExperiments::wrong_with(int tokens, std::span<const RowKey> rows) {
  const std::unique_ptr<step::Step> step = runner_.step().reshaped({.tokens = tokens});
  run::ArmRunner runner{*step, runner_.device(), observer_, case_index_};
  run::PassOptions select;
  select.select = true;
  const run::ArmLog eager = runner.run_eager(step::Arm::kEager, model::Phase::kEager, select);
  run::Capture capture = runner.capture(options_.capture, options_.capture_over_history);
  const std::vector<model::StepFacts> steps = run::plans(*step);
  Wrong wrong;
  for (int i = 0; i < kRepeats; ++i) {
    const run::ArmLog graph = runner.replay(capture, eager, model::Phase::kExperiment, {});
    wrong.merge(keys_of(run::differing(runner, eager, graph)));
    for (const auto& output : run::compare_outputs(steps, eager, graph, false)) {
      wrong.insert({output.step, output.layer, output.lane, SpotKind::kOutput});
    }
    for (const auto& top_k : run::compare_selections(steps, eager, graph, 0, false)) {
      wrong.insert({top_k.step, top_k.layer, top_k.lane, SpotKind::kSelection});
    }
  }
  Wrong still;
  for (const RowKey& row : rows) {
    const auto at = static_cast<std::size_t>(row.step);
    const model::CacheKind kind =
        row.kind == SpotKind::kRow ? run_.facts.caches.at(static_cast<std::size_t>(row.cache)).kind
                                   : model::CacheKind::kOutput;
    const std::optional<RowKey> other =
        counterpart(row, kind, run_.facts.steps.at(at), steps.at(at));
    if (!other || wrong.contains(*other)) still.insert(row);
  }
  return still;
}

ExperimentResult StepExperiments::fill_bucket(std::span<const RowKey> rows) {
  int tokens = 0;
  int bucket = 0;
  for (const RowKey& row : rows) {
    const model::StepFacts& step = run_.facts.steps.at(static_cast<std::size_t>(row.step));
    tokens = std::max(tokens, step.tokens);
    bucket = std::max(bucket, step.bucket);
  }
  if (tokens >= bucket) return NotRunnable{"the bucket is full: there is no padding to take away"};
  if (runner_.step().reshaped({.tokens = bucket}) == nullptr) {
    return NotRunnable{"this step cannot run another number of lanes"};
  }
  Outcome outcome = make_outcome(rows, wrong_with(bucket, rows), wrong_with(tokens, rows));
  outcome.observations.push_back("with " + std::to_string(bucket) + " real lanes in a bucket of " +
                                 std::to_string(bucket) + ", " +
                                 std::to_string(outcome.hit_with_change) + " of " +
                                 std::to_string(outcome.rows) + " rows are right");
  return outcome;
}

ExperimentResult StepExperiments::poison_pad_lanes(std::span<const RowKey> rows) {
  // Zero, a large finite value, and a NaN: the same in all pad lanes, several of which may write
  // one row in any order.
  constexpr std::uint16_t kBf16Patterns[] = {0x0000, 0x5A80, 0x7FC0};
  bool poisoned = false;
  const auto poison = [&](int step, int pattern) {
    const auto tokens = static_cast<std::int64_t>(runner_.step().plan(step).tokens);
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      const std::vector<std::byte> values = activation(input, kBf16Patterns[pattern]);
      if (values.empty()) continue;
      for (std::int64_t lane = tokens; lane < input.lanes; ++lane) {
        upload(static_cast<std::byte*>(input.address) + lane * input.lane_stride, values);
        poisoned = true;
      }
    }
  };
  Outcome outcome =
      with_poison(rows, run_.capture, poison, static_cast<int>(std::size(kBf16Patterns)));
  if (!poisoned) return NotRunnable{"no pad lane has an activation of bf16 or f32 to change"};
  return outcome;
}

ExperimentResult StepExperiments::pad_lanes_do_not_matter(std::span<const RowKey> rows) {
  ExperimentResult result = poison_pad_lanes(rows);
  if (auto* outcome = std::get_if<Outcome>(&result)) {
    outcome->hit_with_change = outcome->rows - outcome->hit_with_change;
  }
  return result;
}

ExperimentResult StepExperiments::neutral_pads(const Intervention& intervention,
                                               std::span<const RowKey> rows) {
  const auto set = [&](int step, bool neutral) {
    const auto tokens = static_cast<std::int64_t>(runner_.step().plan(step).tokens);
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      if (input.is_activation || !is_named(intervention.names, input.name)) continue;
      const auto size = static_cast<std::size_t>(input.lane_bytes);
      if (size > sizeof(input.pad_value)) continue;
      for (std::int64_t lane = tokens; lane < input.lanes; ++lane) {
        auto* at = static_cast<std::byte*>(input.address) + lane * input.lane_stride;
        std::vector<std::byte> value = download(at, size);
        if (neutral) std::memcpy(value.data(), &input.pad_value, size);
        upload(at, value);
      }
    }
  };
  return with_hooks(
      rows, [&](int step) { set(step, true); }, [&](int step) { set(step, false); });
}

}  // namespace graphsan::diagnose
