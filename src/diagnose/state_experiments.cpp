#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/experiment_parts.hpp"
#include "diagnose/step_experiments.hpp"

namespace graphsan::diagnose {

std::string StepExperiments::foreign_owner(std::uint64_t captured) {
  const device::OwnedRange then = run_.capture.addresses.resolve(captured, 0);
  const device::OwnedRange now = runner_.step().addresses().resolve(captured, 0);
  if (now.owner == device::Owner::kUnknown) {
    const device::Owner kind = runner_.device().memory_kind(reinterpret_cast<void*>(captured));
    const bool there =
        kind == device::Owner::kOtherAllocation || kind == device::Owner::kHostPinned;
    return there ? "" : "nobody that is known: the memory may be gone";
  }
  const bool same = now.owner == then.owner && now.name == then.name;
  if (same || now.owner == device::Owner::kFreeBlock) return "";
  return now.name.empty() ? "somebody else" : now.name;
}

ExperimentResult StepExperiments::refresh_inputs(const Intervention& intervention,
                                                 std::span<const RowKey> rows) {
  for (const auto& [bucket, inputs] : run_.capture.inputs) {
    for (const auto& [name, captured] : inputs) {
      if (!is_named(intervention.names, name)) continue;
      const std::string owner = foreign_owner(captured);
      if (owner.empty()) continue;
      return NotRunnable{"the address that was captured for " + name + " now belongs to " + owner +
                         ", and is not to be written"};
    }
  }
  std::size_t found = 0;
  // What lay at the captured addresses; somebody else may have moved in.
  std::vector<std::pair<void*, std::vector<std::byte>>> before;
  const auto set = [&](int step, bool live) {
    const run::StepLog& log = reference_arm().steps.at(static_cast<std::size_t>(step));
    const run::InputAddresses addresses = run_.capture.inputs_of(step);
    for (const step::InputView& input : runner_.step().inputs(step, step::Arm::kGraph)) {
      if (!is_named(intervention.names, input.name)) continue;
      const run::InputLog* right = find_input(log, input.name);
      const auto captured = addresses.find(input.name);
      if (right == nullptr || captured == addresses.end()) continue;
      ++found;
      auto* to = reinterpret_cast<std::byte*>(captured->second);
      const auto lanes = std::min(input.lanes, right->view.lanes);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        std::byte* at = to + lane * input.lane_stride;
        const auto size = static_cast<std::size_t>(input.lane_bytes);
        before.emplace_back(at, download(at, size));
        upload(at, live
                       ? std::vector<std::byte>(right->lane(static_cast<std::size_t>(lane)).begin(),
                                                right->lane(static_cast<std::size_t>(lane)).end())
                       : download(at, size));
      }
    }
  };
  const auto put_back = [&](int) {
    for (const auto& [at, bytes] : before) upload(at, bytes);
    before.clear();
  };
  Outcome outcome = with_hooks(
      rows, [&](int step) { set(step, true); }, [&](int step) { set(step, false); }, put_back);
  if (found == 0) return NotRunnable{"no input of that name has an address from the capture"};
  return outcome;
}

ExperimentResult StepExperiments::set_opaque(const Intervention& intervention,
                                             std::span<const RowKey> rows) {
  const bool from_start = intervention.change == Change::kRestoreOpaque;
  std::size_t found = 0;
  const auto set = [&](int step, bool change) {
    const run::StepLog& source = from_start
                                     ? run_.graph.steps.front()
                                     : reference_arm().steps.at(static_cast<std::size_t>(step));
    for (const run::OpaqueLog& log : source.opaque) {
      if (!is_named(intervention.names, log.view.name)) continue;
      ++found;
      upload(log.view.address, change ? log.bytes : download(log.view.address, log.bytes.size()));
    }
  };
  Outcome outcome = with_hooks(
      rows, [&](int step) { set(step, true); }, [&](int step) { set(step, false); });
  if (found == 0) return NotRunnable{"the step declares no such state"};
  return outcome;
}

StepExperiments::KeptBlocks StepExperiments::keep_blocks(
    const std::function<bool(const step::ScratchView&)>& is_meant) {
  KeptBlocks kept;
  for (const step::ScratchView& block : runner_.step().scratch()) {
    if (!is_meant(block)) continue;
    kept.emplace_back(block.address,
                      download(block.address, static_cast<std::size_t>(block.bytes)));
  }
  return kept;
}

ExperimentResult StepExperiments::poison_blocks(std::span<const RowKey> rows, bool graph_pool) {
  // As an index, the second is the one that ops most often skip; as a number it is a NaN.
  constexpr std::uint8_t kPatterns[] = {0x00, 0xFF};
  std::size_t blocks = 0;
  const auto is_meant = [&](const step::ScratchView& block) {
    return block.graph_pool == graph_pool && (graph_pool || !block.live);
  };
  const auto poison = [&](int, int pattern) {
    for (const step::ScratchView& block : runner_.step().scratch()) {
      if (!is_meant(block)) continue;
      ++blocks;
      runner_.device().fill(runner_.stream(), block.address, kPatterns[pattern],
                            static_cast<std::size_t>(block.bytes));
    }
    runner_.device().synchronize(runner_.stream());
  };
  // Where blocks are used again within one replay, their last user hides the poison: a capture in
  // which each use has a block of its own is poisoned instead.
  step::CaptureRequest request = options_.capture;
  request.keep_freed = graph_pool;
  run::Capture capture = runner_.capture(request, options_.capture_over_history);
  const KeptBlocks kept = graph_pool ? KeptBlocks{} : keep_blocks(is_meant);
  Outcome outcome = with_poison(rows, capture, poison, static_cast<int>(std::size(kPatterns)));
  for (const auto& [at, bytes] : kept) upload(at, bytes);
  if (blocks == 0) return NotRunnable{"the step has no such block"};
  // Which rows follow from a free block is what is asked, and none has to.
  if (!graph_pool && outcome.hit_with_change != 0) {
    outcome.observations.push_back("other bytes in the free blocks change " +
                                   std::to_string(outcome.hit_with_change) + " of " +
                                   std::to_string(outcome.rows) + " results that were looked at");
    outcome.rows = outcome.hit_with_change;
  }
  return outcome;
}

ExperimentResult StepExperiments::wait_for_copies(std::span<const RowKey> rows) {
  device::Device& device = runner_.device();
  device.set_wait_for_copies(true);
  Wrong changed;
  try {
    for (int i = 0; i < kRepeats; ++i) changed.merge(replay_wrong({}));
  } catch (...) {
    device.set_wait_for_copies(false);
    throw;
  }
  device.set_wait_for_copies(false);
  return make_outcome(rows, changed, replay_wrong({}));
}

ExperimentResult StepExperiments::draw_again(std::span<const RowKey> rows) {
  const auto eager = [&](bool twice) {
    run::PassOptions options;
    options.resync_to = &run_.eager;
    if (twice) {
      // A generator moves on when inputs are refilled, or when it is used.
      options.before_run = [&](int step) {
        runner_.step().run(step, step::Arm::kEager, runner_.stream());
        runner_.step().prepare(step, step::Arm::kEager, runner_.stream());
      };
    }
    return digests(runner_.run_eager(step::Arm::kEager, model::Phase::kControl, options), rows);
  };
  run::PassOptions again;
  again.before_run = [&](int step) {
    runner_.step().prepare(step, step::Arm::kGraph, runner_.stream());
  };
  const std::vector<std::uint64_t> drawn = digests(run_.eager, rows);
  const std::vector<std::uint64_t> redrawn = eager(true);
  const std::vector<std::uint64_t> as_before = eager(false);
  const std::vector<std::uint64_t> replayed = digests(run_.graph, rows);
  const std::vector<std::uint64_t> repeated = digests(replay(run_.capture, again), rows);
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.repeats = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    outcome.hit_with_change += drawn[i] != redrawn[i] && replayed[i] == repeated[i] ? 1 : 0;
    outcome.hit_in_sham += drawn[i] != as_before[i] ? 1 : 0;
  }
  return outcome;
}

}  // namespace graphsan::diagnose
