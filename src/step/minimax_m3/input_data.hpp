#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/config.hpp"

namespace graphsan::step::minimax_m3 {

/// The drawn inputs of a case: pure functions of the seed, equal on both devices.
///
/// Activations are normal with unit variance. Every index query carries two fixed directions beside
/// the noise; a needle's index key points along one of them, so that its block scores about 64
/// where the best of a random block of 128 scores about 30. The directions lie in dimensions 64 to
/// 127, which rope leaves alone.
class InputData {
 public:
  InputData(const Config& config, const BatchPlan& plan) : config_{config}, plan_{&plan} {}

  /// One layer's input rows of the real lanes of `step`: [tokens, row width] bf16.
  [[nodiscard]] std::vector<std::uint16_t> rows(int layer, int step) const;
  /// Values that an earlier batch left in the pad lanes: [lanes, row width] bf16.
  [[nodiscard]] std::vector<std::uint16_t> earlier_batch(int layer, int lanes) const;
  /// History rows `[k | v | index_k]` of tokens [first, first + count) of one sequence.
  [[nodiscard]] std::vector<std::uint16_t> history(int layer, int sequence, std::int64_t first,
                                                   std::int64_t count) const;
  /// Norm weights of one layer, in the order q, k, index_q, index_k: [4, 128] bf16.
  [[nodiscard]] std::vector<std::uint16_t> norm_weights(int layer) const;

 private:
  void add_directions(std::uint16_t* index_q, int heads) const;

  Config config_;
  const BatchPlan* plan_;
};

/// The rope table: row p = [cos(32) | sin(32)] of p · theta^(-i/32), theta 5,000,000, bf16.
[[nodiscard]] std::vector<std::uint16_t> cos_sin_table(std::int64_t positions);

}  // namespace graphsan::step::minimax_m3
