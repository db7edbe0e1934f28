#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kvcache/cache_set.hpp"
#include "model/event.hpp"
#include "run/arm_log.hpp"
#include "run/pool_snapshot.hpp"
#include "run/pool_watch.hpp"
#include "step/step.hpp"

namespace graphsan::run {

/// What to do differently in one pass over the steps.
struct PassOptions {
  /// Put rows back to eager's state after each step. Off: the carried pass, which also places no
  /// pattern, so that missing rows hold what a server's would.
  bool resync = true;
  /// Put rows back to this log's state after each step of a padded-eager pass, so that each of its
  /// steps is local as the graph's are. Borrowed.
  const ArmLog* resync_to = nullptr;
  /// Recompute every sparse layer's selection after each step.
  bool select = false;
  /// Where this pass differs from the given log, recompute what explains it: the attention of
  /// layers whose output differs, the rows of pad lanes for stray rows. Borrowed.
  const ArmLog* explain_against = nullptr;
  /// Recompute with the reference ops what every step should have written, and what the first and
  /// the last should have put out.
  bool reference = false;
  /// Begin from caches that the capture has not touched.
  bool forget_capture = false;
  /// Called after the inputs of a step are in place and before it runs.
  std::function<void(int step)> before_run;
  /// Called when the work of a step has been issued, before it is waited for.
  std::function<void(int step)> after_run;
  /// Replaces the segments that replay a step; null: the captured step's own.
  std::function<std::span<const step::Segment>(int step)> segments_for;
  /// Replaces the exec of a segment; null: the captured one.
  std::function<device::GraphExecRef(const step::Segment&)> exec_for;
};

/// Addresses by the names of inputs.
using InputAddresses = std::map<std::string, std::uint64_t>;

/// A captured step, and what warm-up and capture did to the caches.
struct Capture {
  std::unique_ptr<step::CapturedStep> step;
  std::vector<device::WorkRecord> work;     ///< what the graphs recorded, in issue order
  std::vector<device::WorkRecord> escaped;  ///< issued meanwhile, but into no graph and no break
  device::AddressMap addresses;             ///< who owned what when the capture ended
  std::vector<std::int64_t> changed;  ///< global rows that warm-up and capture changed, sorted
  std::vector<std::int64_t> left;     ///< those that history does not overwrite
  kvcache::RowPack residue;           ///< the bytes left in `changed`
  /// Addresses of the named inputs when captured, of each bucket that has a graph.
  std::map<int, InputAddresses> inputs;
  bool after_history = false;

  /// Those of the graph that replays `step`; none where it runs eagerly.
  [[nodiscard]] InputAddresses inputs_of(int step_index) const;
};

/// Runs the arms of one step object, one after another, on one stream.
///
/// Every pass begins from the same state: caches zeroed, history written. Patterns are put into the
/// rows to be written before each step, nonces into the outputs. Reports phases to the observer.
class ArmRunner {
 public:
  ArmRunner(step::Step& step, device::Device& device, model::Observer& observer, int case_index);

  [[nodiscard]] step::Step& step() { return *step_; }
  [[nodiscard]] device::Device& device() { return *device_; }
  [[nodiscard]] device::StreamRef stream() const { return stream_.get(); }
  [[nodiscard]] const kvcache::CacheSet& caches() const { return caches_; }
  /// Which rows are hashed between the first and the last step; chosen by the size of the caches.
  [[nodiscard]] HashScope scope() const { return scope_; }
  void set_scope(HashScope scope) { scope_ = scope; }
  void announce(model::Phase phase, model::Arm arm, int step);

  /// Runs every step eagerly; `arm` is kEager or kPaddedEager. The eager arm keeps a redo log and
  /// takes the base snapshot.
  [[nodiscard]] ArmLog run_eager(step::Arm arm, model::Phase phase, const PassOptions& options);

  /// Zeroes the caches (and writes history, for a capture between two requests), then warms up and
  /// captures as requested.
  [[nodiscard]] Capture capture(const step::CaptureRequest& request, bool after_history);
  /// Replays every covered step and runs the others eagerly. Starts from zeroed caches, what the
  /// capture left in them, and history, in the order of the capture. `eager` is the log to resync
  /// to; run_eager() in phase kEager must have been called. With resync the rows that the capture
  /// left changed are eager's at first too: a replay that writes the same bytes there again would
  /// not be seen otherwise.
  [[nodiscard]] ArmLog replay(Capture& capture, const ArmLog& eager, model::Phase phase,
                              const PassOptions& options);

  /// Nodes over the segments that replay `step`.
  [[nodiscard]] std::uint64_t segment_nodes(step::CapturedStep& captured, int step);

 private:
  struct OutputWatch;
  void start_from_history();
  void start_from_capture(const Capture& capture, bool forget);
  void finish_step(StepLog& log, int step, step::Arm arm, const OutputWatch& outputs,
                   const PassOptions& options, bool last);
  void read_lane_rows(StepLog& log, step::Arm arm, const ArmLog& against);
  void attend(StepLog& log, step::Arm arm, const ArmLog& against);
  void place_pattern(StepLog& log, int step);
  [[nodiscard]] OutputWatch place_nonces(int step, step::Arm arm);
  void read_outputs(StepLog& log, const OutputWatch& outputs);
  void read_changed(StepLog& log, bool keep_redo);
  void resync(const ArmLog& eager, int step, const StepLog& log);
  [[nodiscard]] std::vector<InputLog> read_inputs(int step, step::Arm arm);
  [[nodiscard]] std::vector<OpaqueLog> read_opaque();
  void read_reference_rows(StepLog& log, step::Arm arm);
  void read_reference_outputs(StepLog& log, step::Arm arm);
  void launch(step::CapturedStep& captured, int step, const PassOptions& options);

  step::Step* step_;
  device::Device* device_;
  model::Observer* observer_;
  int case_index_;
  device::Stream stream_;
  device::Event begin_;
  device::Event end_;
  kvcache::CacheSet caches_;
  PoolWatch watch_;
  HashScope scope_;
  std::unique_ptr<PoolSnapshot> snapshot_;
};

}  // namespace graphsan::run
