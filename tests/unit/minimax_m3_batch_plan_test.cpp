#include "step/minimax_m3/batch_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace graphsan::step::minimax_m3 {
namespace {

Config config_of(Batch batch, int page_size = 128, std::uint64_t seed = 1) {
  Config config;
  config.batch = batch;
  config.page_size = page_size;
  config.seed = seed;
  if (batch == Batch::kPrompt) config.tokens = config.bucket = 192;
  return config;
}

/// One configuration of each batch kind, page size and a few seeds.
std::vector<Config> many_configs() {
  std::vector<Config> configs;
  for (const Batch batch : {Batch::kDecode, Batch::kPrefill, Batch::kMixed, Batch::kPrompt}) {
    for (const int page_size : {16, 128}) {
      for (const std::uint64_t seed : {1ULL, 2ULL, 77ULL}) {
        configs.push_back(config_of(batch, page_size, seed));
      }
    }
  }
  return configs;
}

std::string name_of(const Config& config) {
  return std::string{to_string(config.batch)} + ", page size " + std::to_string(config.page_size) +
         ", seed " + std::to_string(config.seed);
}

TEST(BatchPlan, NeverGivesOutTheNullPageAndNoPageTwice) {
  for (const Config& config : many_configs()) {
    SCOPED_TRACE(name_of(config));
    const BatchPlan plan{config};
    const std::vector<std::int32_t>& table = plan.block_table();
    ASSERT_EQ(table.size(), static_cast<std::size_t>(plan.sequences()) *
                                static_cast<std::size_t>(plan.table_stride()));
    const std::set<std::int32_t> pages{table.begin(), table.end()};
    EXPECT_EQ(pages.size(), table.size());
    EXPECT_EQ(*pages.begin(), 1);
    EXPECT_EQ(*pages.rbegin(), plan.pages() - 1);
  }
}

TEST(BatchPlan, SequencesStartTwoSlotsBeforeABlocksEnd) {
  for (const Config& config : many_configs()) {
    EXPECT_EQ(BatchPlan{config}.history() % 128, 126) << name_of(config);
  }
  EXPECT_EQ(BatchPlan{config_of(Batch::kDecode)}.history(), 4096 - 2);
}

TEST(BatchPlan, ADecodeRunCrossesABlocksEndAtItsThirdToken) {
  const BatchPlan plan{config_of(Batch::kDecode)};
  const auto block = [&](int step) { return plan.step(step).lanes[0].position / 128; };
  EXPECT_EQ(block(0), block(1));
  EXPECT_EQ(block(2), block(1) + 1);
}

TEST(BatchPlan, SequenceZeroOwnsThePoolsLastRowAsTheEndOfAHistoryBlock) {
  for (const Config& config : many_configs()) {
    SCOPED_TRACE(name_of(config));
    const BatchPlan plan{config};
    const std::int64_t last_row = plan.pages() * config.page_size - 1;
    std::vector<std::int64_t> positions;
    for (std::int64_t p = 0; p < plan.history(); ++p) {
      if (plan.slot(0, p) == last_row) positions.push_back(p);
    }
    ASSERT_EQ(positions.size(), 1U);
    EXPECT_EQ(positions.front() % 128, 127);
    // The needle there makes its block one that every lane of sequence 0 selects.
    EXPECT_TRUE(std::any_of(plan.needles().begin(), plan.needles().end(), [&](const Needle& n) {
      return n.sequence == 0 && n.position == positions.front() && n.direction == 1;
    }));
  }
}

TEST(BatchPlan, TheNumberOfRealLanesMovesNoRow) {
  for (Config config : many_configs()) {
    SCOPED_TRACE(name_of(config));
    const int bucket = config.bucket;
    config.tokens = bucket;
    const BatchPlan full{config};
    config.tokens = bucket - 1;
    const BatchPlan padded{config};
    EXPECT_EQ(padded.block_table(), full.block_table());
    EXPECT_EQ(padded.pages(), full.pages());
    EXPECT_EQ(padded.history(), full.history());
    EXPECT_EQ(padded.buckets(), full.buckets());
  }
}

TEST(BatchPlan, PadLanesFillTheBucketAndNameNoRow) {
  const BatchPlan plan{config_of(Batch::kDecode)};
  for (int step = 0; step < 4; ++step) {
    const model::StepFacts& facts = plan.step(step);
    ASSERT_EQ(facts.lanes.size(), 4U);
    EXPECT_EQ(facts.tokens, 3);
    EXPECT_EQ(facts.bucket, 4);
    for (std::size_t lane = 0; lane < 3; ++lane) {
      EXPECT_TRUE(facts.lanes[lane].real);
      EXPECT_EQ(facts.lanes[lane].slot, facts.lanes[lane].index_slot);
      EXPECT_EQ(facts.lanes[lane].slot,
                plan.slot(facts.lanes[lane].sequence, facts.lanes[lane].position));
    }
    EXPECT_FALSE(facts.lanes[3].real);
    EXPECT_EQ(facts.lanes[3].slot, -1);
    EXPECT_EQ(facts.lanes[3].index_slot, -1);
  }
}

TEST(BatchPlan, EachTokenOfEachSequenceComesOnceAndInOrder) {
  for (const Config& config : many_configs()) {
    SCOPED_TRACE(name_of(config));
    const BatchPlan plan{config};
    std::vector<std::int64_t> next(static_cast<std::size_t>(plan.sequences()), plan.history());
    for (int step = 0; step < config.steps; ++step) {
      for (const model::Lane& lane : plan.step(step).lanes) {
        if (!lane.real) continue;
        EXPECT_EQ(lane.position, next.at(static_cast<std::size_t>(lane.sequence))++);
      }
    }
    for (int sequence = 0; sequence < plan.sequences(); ++sequence) {
      EXPECT_EQ(plan.end(sequence), next[static_cast<std::size_t>(sequence)]);
    }
  }
}

TEST(BatchPlan, ADecodeBatchHasANeedleAsEachSequencesFirstNewToken) {
  const BatchPlan plan{config_of(Batch::kDecode)};
  for (int sequence = 0; sequence < plan.sequences(); ++sequence) {
    EXPECT_TRUE(std::any_of(plan.needles().begin(), plan.needles().end(), [&](const Needle& n) {
      return n.sequence == sequence && n.position == plan.history() && n.direction == 0;
    })) << sequence;
  }
}

TEST(BatchPlan, APromptHidesItsNeedleInABlockThatItFillsAlone) {
  const BatchPlan plan{config_of(Batch::kPrompt)};
  std::vector<Needle> written;
  for (const Needle& needle : plan.needles()) {
    if (needle.direction == 0) written.push_back(needle);
  }
  ASSERT_EQ(written.size(), 1U);
  const std::int64_t first = written.front().position / 128 * 128;
  EXPECT_GE(first, plan.history());
  EXPECT_LE(first + 128, plan.history() + 192);
}

TEST(BatchPlan, APromptIsPrefilledOnceAndThenDecodedAlone) {
  const BatchPlan plan{config_of(Batch::kPrompt)};
  EXPECT_EQ(plan.batch_of(0), Batch::kPrefill);
  EXPECT_EQ(plan.step(0).tokens, 192);
  for (int step = 1; step < 4; ++step) {
    EXPECT_EQ(plan.batch_of(step), Batch::kDecode);
    EXPECT_EQ(plan.step(step).tokens, 1);
    EXPECT_EQ(plan.step(step).bucket, 1);
  }
  EXPECT_EQ(plan.buckets(), (std::vector<int>{192, 1}));
  EXPECT_EQ(plan.max_tokens(), 192);
}

TEST(BatchPlan, AMixedBatchDecodesSomeSequencesAndPrefillsOne) {
  Config config = config_of(Batch::kMixed);
  config.tokens = config.bucket = 8;
  const BatchPlan plan{config};
  std::vector<int> lanes(static_cast<std::size_t>(plan.sequences()), 0);
  for (const model::Lane& lane : plan.step(0).lanes)
    ++lanes[static_cast<std::size_t>(lane.sequence)];
  EXPECT_EQ(lanes, (std::vector<int>{4, 1, 1, 1, 1}));
}

TEST(BatchPlan, DrawsThePageOrderFromTheSeed) {
  const BatchPlan one{config_of(Batch::kDecode, 128, 1)};
  const BatchPlan again{config_of(Batch::kDecode, 128, 1)};
  const BatchPlan other{config_of(Batch::kDecode, 128, 2)};
  EXPECT_EQ(one.block_table(), again.block_table());
  EXPECT_NE(one.block_table(), other.block_table());
}

TEST(BatchPlan, KnowsNoStepBeyondTheLast) {
  const BatchPlan plan{config_of(Batch::kDecode)};
  EXPECT_THROW(static_cast<void>(plan.step(4)), std::out_of_range);
}

}  // namespace
}  // namespace graphsan::step::minimax_m3
