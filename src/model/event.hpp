#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/digest.hpp"
#include "model/facts.hpp"
#include "model/graph.hpp"

namespace graphsan::model {

/// One way to run the steps of a case.
enum class Arm : std::uint8_t { kControl, kEager, kPaddedEager, kGraph, kCarried };
[[nodiscard]] std::string_view to_string(Arm arm);
[[nodiscard]] std::optional<Arm> parse_arm(std::string_view word);

/// What the runner is doing; named when a case dies.
enum class Phase : std::uint8_t {
  kSetUp,
  kProfile,
  kControl,
  kEager,
  kPaddedEager,
  kWarmUp,
  kCapture,
  kReplay,
  kCarried,
  kExperiment,
  kReport
};
[[nodiscard]] std::string_view to_string(Phase phase);
[[nodiscard]] std::optional<Phase> parse_phase(std::string_view word);

/// Which process, device and place an event belongs to.
struct EventKey {
  int rank = 0;
  int process = 0;
  int device = 0;
  int context = 0;
  int case_index = 0;
  Arm arm = Arm::kEager;
  int step = -1;
  int segment = -1;
};

struct PhaseStarted {
  Phase phase = Phase::kSetUp;
};
/// Work launched eagerly, or recorded into a segment.
struct WorkLaunched {
  Work work;
  bool captured = false;
};
struct SegmentCaptured {
  GraphSegment segment;
};
/// Digests of the rows of one cache after a step. `rows` empty: all rows, in order.
struct RowsHashed {
  int cache = 0;
  std::vector<std::int64_t> rows;
  std::vector<Digest> digests;
};
struct RowDiffers {
  RowDifference difference;
};
struct AllocationChanged {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool allocated = true;
  OwnerKind owner = OwnerKind::kOtherAllocation;
  std::string name;
};

using EventBody = std::variant<PhaseStarted, WorkLaunched, SegmentCaptured, RowsHashed, RowDiffers,
                               AllocationChanged>;

struct Event {
  EventKey key;
  EventBody body;
};

/// Receives a run's events in order, on the thread that runs the step. Must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const Event& event) = 0;
};

}  // namespace graphsan::model
