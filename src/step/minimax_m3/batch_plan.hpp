#pragma once

#include <cstdint>
#include <vector>

#include "model/facts.hpp"
#include "step/minimax_m3/config.hpp"

namespace graphsan::step::minimax_m3 {

/// A token whose index key points in a direction that every index query shares, so that its block
/// is selected for it alone.
struct Needle {
  int sequence = 0;
  std::int64_t position = 0;
  int direction = 0;  ///< 0: written by the run; 1: in the history, on the pool's last row
};

/// Sequences, pages and batches of a case: a pure function of the configuration.
///
/// Page 0 is the null page. Pages are laid out for `bucket` sequences and for steps × bucket new
/// tokens, so that changing the number of real lanes moves no row. Sequences start two slots before
/// a block's end. Sequence 0 owns the pool's last page as the end of a history block.
class BatchPlan {
 public:
  explicit BatchPlan(const Config& config);

  [[nodiscard]] int sequences() const { return sequences_; }
  [[nodiscard]] std::int64_t pages() const { return pages_; }
  /// Tokens of each sequence before step 0.
  [[nodiscard]] std::int64_t history() const { return history_; }
  /// Entries of a block-table row.
  [[nodiscard]] std::int32_t table_stride() const { return table_stride_; }
  /// Largest number of blocks that a lane can see.
  [[nodiscard]] std::int32_t max_blocks() const;
  /// [sequences, table_stride]; unused entries are 0.
  [[nodiscard]] const std::vector<std::int32_t>& block_table() const { return table_; }
  /// Tokens that a sequence has after the last step.
  [[nodiscard]] std::int64_t end(int sequence) const {
    return ends_.at(static_cast<std::size_t>(sequence));
  }
  [[nodiscard]] std::int64_t slot(int sequence, std::int64_t position) const;
  /// The step's lanes, pads included, without coverage.
  [[nodiscard]] const model::StepFacts& step(int step) const { return steps_.at(step); }
  [[nodiscard]] Batch batch_of(int step) const { return batches_.at(step); }
  [[nodiscard]] const std::vector<Needle>& needles() const { return needles_; }
  /// Largest bucket, and all buckets in use, descending.
  [[nodiscard]] const std::vector<int>& buckets() const { return buckets_; }
  [[nodiscard]] int max_tokens() const;

 private:
  void assign_pages(const Config& config, std::int64_t tokens_per_sequence);
  void plan_steps(const Config& config);
  void add_lane(model::StepFacts& step, int sequence, std::int64_t position);
  void place_needles(const Config& config);

  std::int64_t page_size_;
  std::int64_t history_ = 0;
  std::int64_t pages_ = 0;
  std::int32_t table_stride_ = 0;
  int sequences_ = 0;
  std::vector<std::int32_t> table_;
  std::vector<model::StepFacts> steps_;
  std::vector<Batch> batches_;
  std::vector<std::int64_t> ends_;
  std::vector<Needle> needles_;
  std::vector<int> buckets_;
};

}  // namespace graphsan::step::minimax_m3
