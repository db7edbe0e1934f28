#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"
#include "step/minimax_m3/ops.hpp"
#include "step/minimax_m3/step_program.hpp"
#include "tests/unseen/element_op.hpp"
#include "tests/unseen/unseen_faults.hpp"

namespace graphsan::test {

/// Makes `Program(config)`.
template <typename Program>
[[nodiscard]] step::minimax_m3::ProgramFactory unseen_program() {
  return [](const step::minimax_m3::Config& config) { return std::make_unique<Program>(config); };
}

/// A step whose writes are a launch of their own on every dtype, with memory of its own.
class UnseenProgram : public step::minimax_m3::StepProgram {
 public:
  explicit UnseenProgram(const step::minimax_m3::Config& config)
      : UnseenProgram{config, faults::separate_writes(config)} {}
  UnseenProgram(const step::minimax_m3::Config& config,
                std::shared_ptr<const step::minimax_m3::InsertPath> path)
      : StepProgram{std::move(path)}, last_layer_{config.layers - 1} {}

  void bind(const step::minimax_m3::ProgramContext& shared, device::StreamRef) override {
    memory_.emplace(shared.device);
    make_memory(shared);
  }
  void describe(device::AddressMap& map) const override { memory_->describe(map); }

 protected:
  /// Allocates in `memory_`.
  virtual void make_memory(const step::minimax_m3::ProgramContext&) {}

  [[nodiscard]] bool is_last(const step::minimax_m3::OpContext& context) const {
    return context.layer == last_layer_;
  }
  [[nodiscard]] static std::size_t capacity(const step::minimax_m3::ProgramContext& shared) {
    return static_cast<std::size_t>(std::max(shared.exact.capacity, shared.persistent.capacity));
  }
  [[nodiscard]] static const step::minimax_m3::LayerBuffers& buffers_of(
      const step::minimax_m3::OpContext& context) {
    return context.lanes.layers[static_cast<std::size_t>(context.layer)];
  }
  /// Elements of a lane's V.
  [[nodiscard]] static std::size_t value_width(const step::minimax_m3::Config& config) {
    return static_cast<std::size_t>(step::minimax_m3::heads_for(config.tp, true).kv) *
           step::minimax_m3::kHeadDim;
  }

  int last_layer_;
  std::optional<step::minimax_m3::NamedBuffers> memory_;
};

}  // namespace graphsan::test
