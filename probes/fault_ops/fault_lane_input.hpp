#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "step/minimax_m3/step_program.hpp"

namespace graphsan::faults {

/// Which of the step's lane-shaped inputs a program copies before the ops read it.
enum class LaneInputKind : std::uint8_t {
  kSlots,       ///< of all caches
  kIndexSlots,  ///< of the index-K cache alone
  kPositions,
  kLengths  ///< sequence lengths, for indexer and attention of the last layer
};

struct LaneInput {
  LaneInputKind kind = LaneInputKind::kSlots;
  std::string name;
};

/// A step whose ops read a copy of one input, made by each refill, as where a framework casts a
/// tensor. The copies go round a ring of buffers; a ring of one is refilled in place.
///
/// A fresh process has neutral values in all buffers: no slot, position 0, length 1.
class LaneInputProgram : public step::minimax_m3::StepProgram {
 public:
  LaneInputProgram(const step::minimax_m3::Config& config, LaneInput input, int depth);

  void bind(const step::minimax_m3::ProgramContext& shared, device::StreamRef stream) override;
  void reset(const step::minimax_m3::ProgramContext& shared, device::StreamRef stream) override;
  void refill(const step::minimax_m3::RefillContext& context) override;
  void norm_rope(const step::minimax_m3::OpContext& context) override;
  void insert(const step::minimax_m3::OpContext& context) override;
  void indexer(const step::minimax_m3::OpContext& context) override;
  void attention(const step::minimax_m3::OpContext& context) override;
  [[nodiscard]] std::vector<step::InputView> inputs(int step, step::Arm arm) const override;
  void describe(device::AddressMap& map) const override;

 protected:
  /// How many lanes this refill copies, from lane 0 on; `lanes` are all of them.
  [[nodiscard]] virtual int lanes_to_copy(const step::minimax_m3::RefillContext&, int lanes) {
    return lanes;
  }
  /// The refill is for a replay, and not for work that is launched.
  [[nodiscard]] static bool is_for_replay(const step::minimax_m3::RefillContext& context);

 private:
  [[nodiscard]] bool reads_copy(const step::minimax_m3::OpContext& context,
                                LaneInputKind kind) const;
  [[nodiscard]] std::size_t element_bytes() const;
  [[nodiscard]] const void* source(const step::minimax_m3::LaneBuffers& lanes) const;
  template <typename T>
  [[nodiscard]] const T* live() const {
    return reinterpret_cast<const T*>(ring_[cursor_]);
  }

  LaneInput input_;
  std::size_t depth_;
  std::optional<step::minimax_m3::NamedBuffers> memory_;
  std::vector<std::byte*> ring_;
  std::size_t cursor_ = 0;
  std::vector<std::byte> neutral_;  ///< of one buffer; copied from asynchronously
  int lanes_ = 0;                   ///< of the last refill; all before the first
};

}  // namespace graphsan::faults
