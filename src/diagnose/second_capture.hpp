#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "diagnose/experiments.hpp"
#include "model/graph.hpp"
#include "run/arm_runner.hpp"
#include "run/case_run.hpp"

namespace graphsan::diagnose {

/// What a fresh capture of one step's own batch recorded.
struct LiveNodes {
  std::vector<device::NodeInfo> nodes;  ///< of all segments, in creation order
  std::vector<model::Work> works;       ///< the same as values, addresses resolved, ids from 0
};

/// Captures of steps with their live metadata, for code whose eager launches nobody sees with
/// arguments: the words that such a capture records are the ones that the step passes now.
///
/// Words that differ between the run's capture and another one made as it was are no news (padding
/// of structs, addresses of temporaries): in `works` they are the run's own. Keeps the captures
/// alive, since nodes name their memory. Borrows all.
class SecondCapture {
 public:
  SecondCapture(run::ArmRunner& runner, const run::CaseRun& run) : runner_{runner}, run_{run} {}

  /// Captures at the first call for a step. Throws DeviceError where the capture is refused.
  [[nodiscard]] const LiveNodes& at(int step);

 private:
  /// A 4-byte word of a node of the facts' segments.
  struct WordOf {
    NodeOf node;
    std::uint32_t offset = 0;
    friend auto operator<=>(const WordOf& a, const WordOf& b) {
      return std::tie(a.node.segment, a.node.node, a.offset) <=>
             std::tie(b.node.segment, b.node.node, b.offset);
    }
    friend bool operator==(const WordOf&, const WordOf&) = default;
  };

  [[nodiscard]] LiveNodes capture(const step::CaptureRequest& request, int step);
  void find_noise();
  void silence(LiveNodes& live) const;

  run::ArmRunner& runner_;
  const run::CaseRun& run_;
  std::vector<run::Capture> captures_;
  std::map<int, LiveNodes> at_;
  std::map<WordOf, std::vector<std::byte>> noise_;  ///< words of the run's capture
  bool knows_noise_ = false;
};

}  // namespace graphsan::diagnose
