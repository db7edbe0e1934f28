#include <algorithm>
#include <numeric>
#include <utility>

#include "run/arm_runner.hpp"

// What an arm's log keeps of a step beside the rows that it changed.
namespace graphsan::run {

std::vector<InputLog> ArmRunner::read_inputs(int step, step::Arm arm) {
  const auto tokens = static_cast<std::size_t>(step_->plan(step).tokens);
  std::vector<InputLog> logs;
  for (const step::InputView& input : step_->inputs(step, arm)) {
    InputLog log;
    log.view = input;
    const auto lanes = static_cast<std::size_t>(input.lanes);
    const auto lane_bytes = static_cast<std::size_t>(input.lane_bytes);
    log.bytes.resize(lanes * lane_bytes);
    const auto* from = static_cast<const std::byte*>(input.address);
    if (input.lane_stride == input.lane_bytes) {
      device_->copy(stream(), log.bytes.data(), from, log.bytes.size());
    } else {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        device_->copy(stream(), log.bytes.data() + lane * lane_bytes,
                      from + static_cast<std::int64_t>(lane) * input.lane_stride, lane_bytes);
      }
    }
    device_->synchronize(stream());
    log.digest =
        kvcache::row_digest(std::span{log.bytes}.first(std::min(tokens, lanes) * lane_bytes)).value;
    logs.push_back(std::move(log));
  }
  return logs;
}

std::vector<OpaqueLog> ArmRunner::read_opaque() {
  std::vector<OpaqueLog> logs;
  for (const step::OpaqueView& view : step_->opaque()) {
    logs.push_back({view, std::vector<std::byte>(static_cast<std::size_t>(view.bytes))});
    device_->copy(stream(), logs.back().bytes.data(), view.address, logs.back().bytes.size());
  }
  if (!logs.empty()) device_->synchronize(stream());
  return logs;
}

void ArmRunner::read_reference_rows(StepLog& log, step::Arm arm) {
  if (step_->oracle() == nullptr) return;
  for (int cache = 0; cache < static_cast<int>(caches_.views().size()); ++cache) {
    log.lane_rows[cache] = step_->oracle()->lane_rows(log.step, arm, cache, stream());
  }
}

void ArmRunner::read_reference_outputs(StepLog& log, step::Arm arm) {
  if (step_->oracle() == nullptr) return;
  for (const OutputRows& output : log.outputs) {
    if (output.layout.kind != model::CacheKind::kOutput) continue;
    log.attended[output.layout.layer] =
        step_->oracle()->attend(log.step, arm, output.layout.layer, stream());
  }
}

void ArmRunner::read_lane_rows(StepLog& log, step::Arm arm, const ArmLog& against) {
  if (step_->oracle() == nullptr) return;
  const StepLog& other = against.steps[static_cast<std::size_t>(log.step)];
  for (const std::int64_t row : log.changed) {
    const int cache = caches_.cache_of(row);
    if (other.find(row) >= 0 || log.lane_rows.contains(cache)) continue;
    log.lane_rows[cache] = step_->oracle()->lane_rows(log.step, arm, cache, stream());
  }
}

void ArmRunner::attend(StepLog& log, step::Arm arm, const ArmLog& against) {
  if (step_->oracle() == nullptr) return;
  const StepLog& other = against.steps[static_cast<std::size_t>(log.step)];
  for (std::size_t i = 0; i < log.outputs.size(); ++i) {
    const OutputRows& output = log.outputs[i];
    if (output.layout.kind != model::CacheKind::kOutput || output.lanes == other.outputs[i].lanes) {
      continue;
    }
    log.attended[output.layout.layer] =
        step_->oracle()->attend(log.step, arm, output.layout.layer, stream());
  }
}

}  // namespace graphsan::run
