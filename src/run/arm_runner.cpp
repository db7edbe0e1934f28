#include "run/arm_runner.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/digest.hpp"
#include "run/work_tap.hpp"

namespace graphsan::run {

namespace {

/// Pools up to this size are hashed whole after every step; larger ones at the first and last step.
constexpr std::int64_t kFullHashBytes = std::int64_t{256} << 20;

constexpr std::uint64_t kNoncePattern = 0x6E6F'6E63'0000'0000ULL;

model::Arm reported_arm(step::Arm arm, model::Phase phase) {
  if (phase == model::Phase::kControl) return model::Arm::kControl;
  if (phase == model::Phase::kCarried) return model::Arm::kCarried;
  switch (arm) {
    case step::Arm::kEager:
      return model::Arm::kEager;
    case step::Arm::kPaddedEager:
      return model::Arm::kPaddedEager;
    case step::Arm::kGraph:
      return model::Arm::kGraph;
  }
  return model::Arm::kEager;
}

std::vector<std::int64_t> union_of(const std::vector<std::int64_t>& a,
                                   const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

/// The output buffers of one step in one arm; top-k rows get -1 everywhere as nonce, which no
/// indexer leaves and every reader survives, others a pattern.
struct ArmRunner::OutputWatch {
  std::vector<kvcache::CacheView> views;
  std::unique_ptr<kvcache::CacheSet> set;
};

ArmRunner::ArmRunner(step::Step& step, device::Device& device, model::Observer& observer,
                     int case_index)
    : step_{&step},
      device_{&device},
      observer_{&observer},
      case_index_{case_index},
      stream_{device.create_stream()},
      begin_{device.create_event()},
      end_{device.create_event()},
      caches_{device, stream_.get(), step.description().caches},
      watch_{caches_},
      scope_{caches_.bytes() <= kFullHashBytes ? HashScope::kFull : HashScope::kIncremental} {}

void ArmRunner::announce(model::Phase phase, model::Arm arm, int step) {
  model::Event event;
  event.key.case_index = case_index_;
  event.key.arm = arm;
  event.key.step = step;
  event.body = model::PhaseStarted{phase};
  observer_->on_event(event);
}

void ArmRunner::start_from_history() {
  step_->reset(stream());
  step_->write_history(stream());
  watch_.rebase(stream());
}

void ArmRunner::place_pattern(StepLog& log, int step) {
  log.expected = expected_rows(caches_, step_->plan(step));
  kvcache::fill_pattern(stream(), caches_, log.expected, row_pattern_seed(step));
  watch_.rebase_rows(stream(), log.expected);
}

ArmRunner::OutputWatch ArmRunner::place_nonces(int step, step::Arm arm) {
  OutputWatch watch;
  for (const step::OutputView& output : step_->outputs(step, arm)) {
    watch.views.push_back(output.view);
  }
  watch.set = std::make_unique<kvcache::CacheSet>(*device_, stream(), watch.views);
  std::vector<std::int64_t> patterned;
  for (int i = 0; i < static_cast<int>(watch.views.size()); ++i) {
    const kvcache::CacheView& view = watch.views[static_cast<std::size_t>(i)];
    for (std::int64_t row = 0; row < view.layout.rows(); ++row) {
      if (view.layout.kind != model::CacheKind::kTopK) {
        patterned.push_back(watch.set->global_row(i, row));
        continue;
      }
      for (std::int64_t head = 0; head < view.layout.heads; ++head) {
        device_->fill(stream(),
                      static_cast<std::byte*>(view.base) + view.layout.run_offset(row, head), 0xFF,
                      static_cast<std::size_t>(view.layout.run_bytes()));
      }
    }
  }
  kvcache::fill_pattern(stream(), *watch.set, patterned,
                        kNoncePattern + static_cast<std::uint64_t>(step));
  return watch;
}

void ArmRunner::read_outputs(StepLog& log, const OutputWatch& outputs) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(outputs.set->rows()));
  std::iota(all.begin(), all.end(), 0);
  const kvcache::RowPack pack = kvcache::pack_rows(stream(), *outputs.set, all);
  std::vector<std::vector<std::byte>> bytes = kvcache::download(stream(), *outputs.set, pack);
  std::size_t next = 0;
  for (std::size_t i = 0; i < outputs.views.size(); ++i) {
    OutputRows rows;
    rows.layout = outputs.views[i].layout;
    rows.nonce_overwritten = true;
    for (std::int64_t row = 0; row < rows.layout.rows(); ++row) {
      std::vector<std::byte>& lane = bytes[next];
      const std::vector<std::byte> nonce =
          rows.layout.kind == model::CacheKind::kTopK
              ? std::vector<std::byte>(lane.size(), std::byte{0xFF})
              : kvcache::pattern_bytes(static_cast<std::int64_t>(next), lane.size(),
                                       kNoncePattern + static_cast<std::uint64_t>(log.step));
      rows.nonce_overwritten = rows.nonce_overwritten && lane != nonce;
      rows.lanes.push_back(std::move(lane));
      ++next;
    }
    log.outputs.push_back(std::move(rows));
  }
}

void ArmRunner::read_changed(StepLog& log, bool keep_redo) {
  kvcache::RowPack pack = kvcache::pack_rows(stream(), caches_, log.changed);
  log.bytes = kvcache::download(stream(), caches_, pack);
  for (const std::vector<std::byte>& row : log.bytes) {
    log.digests.push_back(kvcache::row_digest(row));
  }
  if (keep_redo) log.redo = std::move(pack);
}

void ArmRunner::finish_step(StepLog& log, int step, step::Arm arm, const OutputWatch& outputs,
                            const PassOptions& options, bool last) {
  device_->synchronize(stream());
  log.milliseconds = device_->elapsed_ms(begin_.get(), end_.get());
  const bool full = scope_ == HashScope::kFull || step == 0 || last;
  log.changed = full ? watch_.changed(stream()) : watch_.changed_among(stream(), log.expected);
  read_changed(log, arm == step::Arm::kEager);
  read_outputs(log, outputs);
  if (options.select && step_->oracle() != nullptr) {
    for (const int layer : step_->oracle()->sparse_layers()) {
      log.selections.push_back(step_->oracle()->select(step, arm, layer, stream()));
    }
  }
  if (options.reference && step_->description().follows_reference) {
    read_reference_rows(log, arm);
    if (step == 0 || last) read_reference_outputs(log, arm);
  }
  if (options.explain_against != nullptr) {
    read_lane_rows(log, arm, *options.explain_against);
    attend(log, arm, *options.explain_against);
  }
  log.inputs = read_inputs(step, arm);
}

ArmLog ArmRunner::run_eager(step::Arm arm, model::Phase phase, const PassOptions& options) {
  ArmLog log;
  log.arm = arm;
  const int steps = step_->description().steps;
  start_from_history();
  if (phase == model::Phase::kEager) {
    if (!snapshot_) snapshot_ = std::make_unique<PoolSnapshot>(stream(), caches_);
    snapshot_->take(stream());
  }
  for (int step = 0; step < steps; ++step) {
    announce(phase, reported_arm(arm, phase), step);
    StepLog made;
    made.step = step;
    step_->prepare(step, arm, stream());
    place_pattern(made, step);
    const OutputWatch outputs = place_nonces(step, arm);
    if (options.before_run) options.before_run(step);
    made.opaque = read_opaque();
    {
      const WorkTap tap{*device_, made.work, &made.copied};
      device_->record(begin_.get(), stream());
      step_->run(step, arm, stream());
      device_->record(end_.get(), stream());
    }
    if (options.after_run) options.after_run(step);
    finish_step(made, step, arm, outputs, options, step + 1 == steps);
    if (options.resync_to != nullptr) resync(*options.resync_to, step, made);
    log.steps.push_back(std::move(made));
  }
  log.addresses = step_->addresses();
  return log;
}

InputAddresses Capture::inputs_of(int step_index) const {
  if (step->segments(step_index).empty()) return {};
  const auto found = inputs.find(step->bucket(step_index));
  return found == inputs.end() ? InputAddresses{} : found->second;
}

Capture ArmRunner::capture(const step::CaptureRequest& request, bool after_history) {
  announce(model::Phase::kCapture, model::Arm::kGraph, -1);
  step_->reset(stream());
  if (after_history) step_->write_history(stream());
  watch_.rebase(stream());
  Capture capture;
  capture.after_history = after_history;
  {
    std::vector<device::WorkRecord> work;
    const WorkTap tap{*device_, work};
    capture.step = step_->capture(request, stream());
    std::copy_if(work.begin(), work.end(), std::back_inserter(capture.work),
                 [](const device::WorkRecord& record) { return record.captured; });
    std::copy_if(
        work.begin(), work.end(), std::back_inserter(capture.escaped),
        [](const device::WorkRecord& record) { return record.during_capture && !record.captured; });
  }
  device_->synchronize(stream());
  capture.addresses = step_->addresses();
  for (int step = 0; step < step_->description().steps; ++step) {
    if (!step_->plan(step).covered) continue;
    const auto [bucket, is_new] = capture.inputs.try_emplace(capture.step->bucket(step));
    if (!is_new) continue;
    for (const step::InputView& input : step_->inputs(step, step::Arm::kGraph)) {
      bucket->second[input.name] = reinterpret_cast<std::uint64_t>(input.address);
    }
  }
  capture.changed = watch_.changed(stream());
  capture.left = capture.changed;
  if (capture.changed.empty()) return capture;
  capture.residue = kvcache::pack_rows(stream(), caches_, capture.changed);
  if (after_history) return capture;
  step_->write_history(stream());
  const std::vector<std::int64_t> overwritten = watch_.changed_among(stream(), capture.changed);
  capture.left.clear();
  std::set_difference(capture.changed.begin(), capture.changed.end(), overwritten.begin(),
                      overwritten.end(), std::back_inserter(capture.left));
  return capture;
}

void ArmRunner::start_from_capture(const Capture& capture, bool forget) {
  step_->reset(stream());
  if (capture.after_history) step_->write_history(stream());
  if (!forget && !capture.changed.empty()) kvcache::unpack_rows(stream(), caches_, capture.residue);
  if (!capture.after_history) step_->write_history(stream());
  watch_.rebase(stream());
}

void ArmRunner::launch(step::CapturedStep& captured, int step, const PassOptions& options) {
  const std::span<const step::Segment> segments =
      options.segments_for ? options.segments_for(step) : captured.segments(step);
  for (const step::Segment& segment : segments) {
    if (segment.exec) {
      const device::GraphExecRef exec = options.exec_for ? options.exec_for(segment) : segment.exec;
      device_->launch(exec, stream());
    }
    if (segment.run_break) segment.run_break(stream());
  }
}

ArmLog ArmRunner::replay(Capture& capture, const ArmLog& eager, model::Phase phase,
                         const PassOptions& options) {
  step::CapturedStep& captured = *capture.step;
  ArmLog log;
  log.arm = step::Arm::kGraph;
  const int steps = step_->description().steps;
  start_from_capture(capture, options.forget_capture);
  if (options.resync && !capture.left.empty()) {
    kvcache::copy_rows(stream(), snapshot_->caches(), caches_, capture.left);
    watch_.rebase_rows(stream(), capture.left);
  }
  for (int step = 0; step < steps; ++step) {
    announce(phase, reported_arm(step::Arm::kGraph, phase), step);
    StepLog made;
    made.step = step;
    step_->prepare(step, step::Arm::kGraph, stream());
    if (options.resync) {
      place_pattern(made, step);
    } else {
      made.expected = expected_rows(caches_, step_->plan(step));
    }
    const OutputWatch outputs = place_nonces(step, step::Arm::kGraph);
    if (options.before_run) options.before_run(step);
    made.opaque = read_opaque();
    {
      const WorkTap tap{*device_, made.work, &made.copied};
      device_->record(begin_.get(), stream());
      if (step_->plan(step).covered) {
        launch(captured, step, options);
      } else {
        step_->run(step, step::Arm::kGraph, stream());
      }
      if (options.after_run) options.after_run(step);
      device_->record(end_.get(), stream());
    }
    finish_step(made, step, step::Arm::kGraph, outputs, options, step + 1 == steps);
    if (options.resync) resync(eager, step, made);
    log.steps.push_back(std::move(made));
  }
  return log;
}

void ArmRunner::resync(const ArmLog& eager, int step, const StepLog& log) {
  const auto at = static_cast<std::size_t>(step);
  const std::vector<std::int64_t>& ours = eager.steps[at].changed;
  std::vector<std::int64_t> strays;
  std::set_difference(log.changed.begin(), log.changed.end(), ours.begin(), ours.end(),
                      std::back_inserter(strays));
  if (strays.empty() && log.changed == ours && log.digests == eager.steps[at].digests) return;
  std::size_t from = at;
  if (!strays.empty()) {
    kvcache::copy_rows(stream(), snapshot_->caches(), caches_, strays);
    // A stray row may be one that an earlier step wrote: write those steps again, in order.
    for (std::size_t i = 0; i < at; ++i) {
      const bool touched = std::any_of(strays.begin(), strays.end(), [&](std::int64_t row) {
        return eager.steps[i].find(row) >= 0;
      });
      if (touched) from = std::min(from, i);
    }
  }
  std::vector<std::int64_t> rows = log.changed;
  for (std::size_t i = from; i <= at; ++i) {
    kvcache::unpack_rows(stream(), caches_, eager.steps[i].redo);
    rows = union_of(rows, eager.steps[i].changed);
  }
  watch_.rebase_rows(stream(), rows);
}

std::uint64_t ArmRunner::segment_nodes(step::CapturedStep& captured, int step) {
  std::uint64_t nodes = 0;
  for (const step::Segment& segment : captured.segments(step)) {
    if (segment.graph) nodes += device_->nodes(segment.graph).size();
  }
  return nodes;
}

}  // namespace graphsan::run
