#include <utility>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_lane_input.hpp"
#include "probes/fault_ops/fault_planting.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;

namespace {

/// What the refill before a replay leaves out.
enum class Skips : std::uint8_t {
  kSameBatchSize,  ///< everything, where the batch has as many tokens as the last
  kAlways,         ///< everything: the plan is made where ops are launched
  kTail            ///< the lanes after the first half: those of the prefill
};

/// A plan at a fixed address. Repaired, every refill fills it.
class SkippedPlan final : public LaneInputProgram {
 public:
  SkippedPlan(const Config& config, Repaired repaired, LaneInput input, Skips skips)
      : LaneInputProgram{config, std::move(input), 1}, repaired_{repaired}, skips_{skips} {}

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    LaneInputProgram::reset(shared, stream);
    planned_tokens_ = 0;
  }

 protected:
  [[nodiscard]] int lanes_to_copy(const RefillContext& context, int lanes) override {
    const int tokens = context.metadata.tokens;
    const bool same_size = std::exchange(planned_tokens_, tokens) == tokens;
    if (repaired_ == Repaired::kYes || !is_for_replay(context)) return lanes;
    switch (skips_) {
      case Skips::kSameBatchSize:
        return same_size ? 0 : lanes;
      case Skips::kAlways:
        return 0;
      case Skips::kTail:
        return tokens / 2;
    }
    return lanes;
  }

 private:
  Repaired repaired_;
  Skips skips_;
  int planned_tokens_ = 0;
};

PlantedFault stale(Variant words, LaneInputKind kind, const char* name, Skips skips) {
  words.id = "stale-contents";
  return planted<SkippedPlan>(std::move(words), LaneInput{kind, name}, skips);
}

}  // namespace

void add_stale_contents_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(stale({.id = {},
                          .variant = "slot-plan",
                          .description = "replay plans slots only where the batch size changes",
                          .options = "--kv-dtype fp8_e5m2 --write-path two-step"},
                         LaneInputKind::kSlots, "slot plan", Skips::kSameBatchSize));
  faults.push_back(stale({.id = {},
                          .variant = "length-plan",
                          .description = "replay does not plan the last layer's lengths",
                          .options = "--kv-dtype bf16 --mode full"},
                         LaneInputKind::kLengths, "length plan", Skips::kAlways));
  faults.push_back(stale({.id = {},
                          .variant = "tail",
                          .description = "replay fills the index slots of the decode lanes alone",
                          .options = "--kv-dtype bf16 --write-path two-step --batch mixed "
                                     "--tokens 6"},
                         LaneInputKind::kIndexSlots, "index slot plan", Skips::kTail));
  faults.push_back(stale({.id = {},
                          .variant = "positions",
                          .description = "replay plans positions only where the batch size changes",
                          .options = "--kv-dtype fp8_e4m3 --write-path fused --layers 3"},
                         LaneInputKind::kPositions, "position plan", Skips::kSameBatchSize));
}

}  // namespace graphsan::faults
