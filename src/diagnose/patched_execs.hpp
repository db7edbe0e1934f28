#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "diagnose/experiments.hpp"
#include "diagnose/second_capture.hpp"
#include "run/arm_runner.hpp"
#include "run/case_run.hpp"

namespace graphsan::diagnose {

/// Execs of our own, instantiated from the captured graphs, whose nodes are given before each step
/// what the padded-eager arm passed in that step or, where nobody saw that, what a second capture
/// of the step's own batch records.
class PatchedExecs {
 public:
  /// `run` must have segments, and a padded-eager arm. Borrowed.
  PatchedExecs(run::ArmRunner& runner, const run::CaseRun& run, const Intervention& intervention);

  /// The segments of the interesting step that hold a node to be patched have a launch to take the
  /// words from in at least one step.
  [[nodiscard]] bool has_live_values() const { return has_live_values_; }
  /// The exec for a segment in `step`, patched with live values or, in a sham, with the node's own.
  [[nodiscard]] device::GraphExecRef exec_for(const step::Segment& segment, int step, bool sham);

 private:
  /// A scalar or pointer inside a parameter buffer.
  struct Field {
    std::string name;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    bool is_pointer = false;
  };
  /// What a launch of the step passes. Borrowed from the run or from `second_`.
  struct Live {
    device::LaunchDims dims;
    std::span<const device::Argument> arguments;  ///< of a kernel
    std::vector<Field> fields;                    ///< declared; empty where nobody declares them
    std::optional<device::CopyParams> copy;
    std::optional<device::FillParams> fill;
    const std::vector<std::byte>* copied = nullptr;  ///< what a host source held, or null
  };
  void find_live_values();
  void add_launches(const run::StepLog& log);
  void add_second_capture(int step);
  void add(const NodeOf& node, int step, Live live);
  /// The fields that the intervention names, and their live bytes.
  [[nodiscard]] std::vector<device::Argument> wanted_words(const Live& live) const;
  void patch(device::GraphExecRef exec, const device::NodeInfo& node, const Live& live, bool sham);
  void patch_kernel(device::GraphExecRef exec, const device::NodeInfo& node, const Live& live,
                    bool sham);
  void patch_copy(device::GraphExecRef exec, const device::NodeInfo& node, const Live& live,
                  bool sham);
  /// Host memory of ours, of the kind that `like` is, with `bytes`.
  [[nodiscard]] const void* host_copy(const void* like, std::span<const std::byte> bytes);
  [[nodiscard]] bool names(const std::string& field) const;

  run::ArmRunner& runner_;
  const run::CaseRun& run_;
  Intervention intervention_;
  std::map<void*, int> segment_of_graph_;
  std::map<void*, std::vector<device::NodeInfo>> nodes_;
  std::map<void*, device::GraphExec> execs_;
  SecondCapture second_;
  std::deque<device::Argument> packed_;                      ///< argument structs of launches
  std::map<std::pair<int, int>, std::map<int, Live>> live_;  ///< (segment, node) → step → value
  std::vector<device::Buffer> pinned_;
  std::vector<std::vector<std::byte>> pageable_;
  bool has_live_values_ = false;
};

}  // namespace graphsan::diagnose
