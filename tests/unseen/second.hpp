#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "step/minimax_m3/step_program.hpp"
#include "tests/unseen/unseen_faults.hpp"

namespace graphsan::test {

/// Padding, captures, graphs, order, per-launch state, values, and what no graph is to blame for.
[[nodiscard]] const std::vector<UnseenFault>& unseen_faults_second();

}  // namespace graphsan::test

namespace graphsan::test::second {

/// The kernel of an op that has a host form only: a trivially copyable struct with `kName`,
/// `fields()` and `run()`.
template <typename Op>
[[nodiscard]] const device::Kernel& host_kernel() {
  static const device::Kernel kernel{
      Op::kName, nullptr,
      [](const device::LaunchDims&, const void* op) { static_cast<const Op*>(op)->run(); },
      sizeof(Op), Op::fields()};
  return kernel;
}

template <typename Op>
void launch_op(device::Device& device, device::StreamRef stream, const Op& op) {
  device.launch(stream, host_kernel<Op>(), {}, &op);
}

/// A step that writes its caches apart from norm and rope, with named memory that a fresh process
/// has zeroed.
class TwoStepProgram : public step::minimax_m3::StepProgram {
 public:
  explicit TwoStepProgram(const step::minimax_m3::Config& config)
      : StepProgram{faults::separate_writes(config)} {}

  void reset(const step::minimax_m3::ProgramContext&, device::StreamRef stream) override {
    if (memory_) memory_->clear(stream);
  }
  void describe(device::AddressMap& map) const override {
    if (memory_) memory_->describe(map);
  }

 protected:
  template <typename T>
  [[nodiscard]] T* add(const step::minimax_m3::ProgramContext& shared, std::string name,
                       std::size_t count) {
    if (!memory_) memory_.emplace(shared.device);
    return memory_->add<T>(std::move(name), count);
  }

  /// One element a lane of the largest batch.
  template <typename T>
  [[nodiscard]] T* add_lanes(const step::minimax_m3::ProgramContext& shared, std::string name) {
    return add<T>(shared, std::move(name), static_cast<std::size_t>(shared.persistent.capacity));
  }

  [[nodiscard]] static bool is_last(const step::minimax_m3::OpContext& context) {
    return context.layer == context.shared.config.layers - 1;
  }
  [[nodiscard]] static bool is_live(const step::minimax_m3::OpContext& context) {
    return context.metadata != nullptr && context.metadata->step >= 0;
  }

  template <typename Op>
  static void launch_on(const step::minimax_m3::OpContext& context, const Op& op) {
    launch_op(context.shared.device, context.stream, op);
  }

 private:
  std::optional<step::minimax_m3::NamedBuffers> memory_;
};

/// Writes K and V of `layer` for as many rows as lanes, from the layer's input, to rows behind the
/// ends of the sequences, which no step of the run comes to.
void try_write(const step::minimax_m3::ProgramContext& shared, device::StreamRef stream,
               std::int64_t* slots, int layer);
/// AddTileTail on the layer's output; nothing without a pool or metadata.
void add_tile_tail(const step::minimax_m3::OpContext& context);

/// Which of several blocks with one score is selected.
enum class TieWinner : std::uint8_t { kEarlier, kLater };
/// The sound indexer, or one that sees ties the other way; nothing without a pool or metadata.
void select_blocks(const step::minimax_m3::OpContext& context, TieWinner winner);

/// `Program(config)` as an unseen fault.
template <typename Program>
[[nodiscard]] UnseenFault unseen(std::string mechanism, std::string name, std::string options) {
  return {std::move(mechanism), std::move(name), std::move(options),
          [](const step::minimax_m3::Config& config) { return std::make_unique<Program>(config); }};
}

/// Leaks from pad lanes, and their metadata.
void add_padding_faults(std::vector<UnseenFault>& faults);
/// What a capture leaves behind, and graphs chosen by too coarse a key.
void add_capture_faults(std::vector<UnseenFault>& faults);
/// Missing edges, missing resets, staging in flight.
void add_order_faults(std::vector<UnseenFault>& faults);
/// Uninitialised memory and wrong scales.
void add_value_faults(std::vector<UnseenFault>& faults);
/// Not the graph's fault.
void add_excused_faults(std::vector<UnseenFault>& faults);

}  // namespace graphsan::test::second
