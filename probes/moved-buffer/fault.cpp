#include <utility>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_lane_input.hpp"
#include "probes/fault_ops/fault_planting.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;

namespace {

/// The copy goes to the next buffer of a ring at each step. Repaired, the ring has one.
class RingOfCopies final : public LaneInputProgram {
 public:
  RingOfCopies(const Config& config, Repaired repaired, LaneInput input, int depth)
      : LaneInputProgram{config, std::move(input), repaired == Repaired::kYes ? 1 : depth} {}
};

/// A buffer of its own for every step of a default run, and one for the capture.
constexpr int kFreshEachStep = 5;

PlantedFault moved(Variant words, LaneInputKind kind, const char* name, int depth) {
  words.id = "moved-buffer";
  return planted<RingOfCopies>(std::move(words), LaneInput{kind, name}, depth);
}

}  // namespace

void add_moved_buffer_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(moved({.id = {},
                          .variant = "slot-mapping",
                          .description = "the slot mapping is cast into one of two buffers in turn",
                          .options = "--kv-dtype fp8_e5m2 --write-path two-step"},
                         LaneInputKind::kSlots, "cast slot mapping", 2));
  faults.push_back(moved({.id = {},
                          .variant = "index-slots",
                          .description = "index-K's slot mapping is a fresh tensor in each step",
                          .options = "--kv-dtype bf16 --write-path two-step --batch prefill "
                                     "--tokens 6"},
                         LaneInputKind::kIndexSlots, "index slot mapping", kFreshEachStep));
  faults.push_back(moved({.id = {},
                          .variant = "positions",
                          .description = "positions are made contiguous in one of three buffers",
                          .options = "--kv-dtype bf16 --write-path fused"},
                         LaneInputKind::kPositions, "contiguous positions", 3));
  faults.push_back(moved({.id = {},
                          .variant = "lengths",
                          .description = "the last layer's lengths come in new metadata each step",
                          .options = "--kv-dtype fp8_e4m3 --write-path two-step --mode full"},
                         LaneInputKind::kLengths, "metadata lengths", 2));
}

}  // namespace graphsan::faults
