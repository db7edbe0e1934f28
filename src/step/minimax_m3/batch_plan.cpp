#include "step/minimax_m3/batch_plan.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace graphsan::step::minimax_m3 {

namespace {

/// Two slots before the end of the last block that `context` tokens touch, so that the run crosses
/// a block's end at its third token.
std::int64_t history_length(std::int64_t context) {
  const std::int64_t whole = std::max<std::int64_t>(1, context / kBlockSize);
  return std::min(context, whole * kBlockSize - 2);
}

/// Real lanes that one sequence can get over the whole run, at most.
std::int64_t new_tokens(const Config& config) {
  switch (config.batch) {
    case Batch::kDecode:
      return config.steps;
    case Batch::kPrefill:
    case Batch::kMixed:
      return static_cast<std::int64_t>(config.steps) * config.bucket;
    case Batch::kPrompt:
      return config.bucket + config.steps;
  }
  return 0;
}

int sequence_count(const Config& config) {
  switch (config.batch) {
    case Batch::kDecode:
      return config.bucket;
    case Batch::kPrefill:
    case Batch::kPrompt:
      return 1;
    case Batch::kMixed:
      return std::max(1, config.bucket / 2) + 1;
  }
  return 1;
}

}  // namespace

BatchPlan::BatchPlan(const Config& config)
    : page_size_{config.page_size},
      history_{history_length(config.context)},
      sequences_{sequence_count(config)} {
  assign_pages(config, history_ + new_tokens(config));
  plan_steps(config);
  place_needles(config);
  std::set<int, std::greater<>> buckets;
  for (const model::StepFacts& step : steps_) buckets.insert(step.bucket);
  buckets_.assign(buckets.begin(), buckets.end());
}

void BatchPlan::assign_pages(const Config& config, std::int64_t tokens_per_sequence) {
  const std::int64_t per_sequence = (tokens_per_sequence + page_size_ - 1) / page_size_;
  table_stride_ = static_cast<std::int32_t>(per_sequence);
  pages_ = 1 + per_sequence * sequences_;
  std::vector<std::int32_t> pages(static_cast<std::size_t>(pages_ - 1));
  std::iota(pages.begin(), pages.end(), 1);
  std::mt19937_64 random{config.seed};
  for (std::size_t i = pages.size() - 1; i > 0; --i) std::swap(pages[i], pages[random() % (i + 1)]);
  table_.assign(pages.begin(), pages.end());

  const std::int64_t pages_per_block = kBlockSize / page_size_;
  const std::int64_t history_blocks = history_ / kBlockSize;
  if (history_blocks < 1) return;
  const std::int64_t block = std::min<std::int64_t>(3, history_blocks - 1);
  const auto last = static_cast<std::int32_t>(pages_ - 1);
  const std::size_t wanted = static_cast<std::size_t>((block + 1) * pages_per_block - 1);
  std::iter_swap(std::find(table_.begin(), table_.end(), last),
                 table_.begin() + static_cast<std::ptrdiff_t>(wanted));
  needles_.push_back({0, (block + 1) * kBlockSize - 1, 1});
}

std::int64_t BatchPlan::slot(int sequence, std::int64_t position) const {
  const std::int64_t page =
      table_.at(static_cast<std::size_t>(sequence * table_stride_ + position / page_size_));
  return page * page_size_ + position % page_size_;
}

void BatchPlan::add_lane(model::StepFacts& step, int sequence, std::int64_t position) {
  const std::int64_t at = slot(sequence, position);
  step.lanes.push_back({true, sequence, position, at, at});
}

void BatchPlan::plan_steps(const Config& config) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(sequences_), history_);
  const auto decode = [&](model::StepFacts& step, int sequence) {
    add_lane(step, sequence, next[static_cast<std::size_t>(sequence)]++);
  };
  for (int i = 0; i < config.steps; ++i) {
    model::StepFacts step;
    step.step = i;
    Batch kind = config.batch;
    if (kind == Batch::kPrompt) kind = i == 0 ? Batch::kPrefill : Batch::kDecode;
    const bool single = config.batch == Batch::kPrompt && kind == Batch::kDecode;
    const int tokens = single ? 1 : config.tokens;
    step.bucket = single ? 1 : config.bucket;
    if (kind == Batch::kDecode) {
      for (int lane = 0; lane < tokens; ++lane) decode(step, lane);
    } else if (kind == Batch::kPrefill) {
      for (int lane = 0; lane < tokens; ++lane) decode(step, 0);
    } else {
      const int decoding = std::min(sequences_ - 1, tokens / 2);
      for (int lane = 0; lane < decoding; ++lane) decode(step, lane + 1);
      for (int lane = decoding; lane < tokens; ++lane) decode(step, 0);
    }
    step.batch = std::string{to_string(kind)};
    step.tokens = tokens;
    step.lanes.resize(static_cast<std::size_t>(step.bucket));
    steps_.push_back(std::move(step));
    batches_.push_back(kind);
  }
  ends_ = std::move(next);
}

void BatchPlan::place_needles(const Config& config) {
  // A prompt longer than two blocks hides its needle in the first block that it fills alone.
  if (config.batch == Batch::kPrompt && config.tokens > kBlockSize) {
    needles_.push_back({0, history_ + 2 + kBlockSize / 2, 0});
    return;
  }
  for (int sequence = 0; sequence < sequences_; ++sequence) {
    needles_.push_back({sequence, history_, 0});
  }
}

std::int32_t BatchPlan::max_blocks() const {
  const std::int64_t tokens = static_cast<std::int64_t>(table_stride_) * page_size_;
  return static_cast<std::int32_t>((tokens + kBlockSize - 1) / kBlockSize);
}

int BatchPlan::max_tokens() const {
  int tokens = 0;
  for (const model::StepFacts& step : steps_) tokens = std::max(tokens, step.tokens);
  return tokens;
}

}  // namespace graphsan::step::minimax_m3
