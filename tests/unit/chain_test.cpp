#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <utility>
#include <vector>

#include "run/consequences.hpp"
#include "tests/support/facts_scene.hpp"

namespace graphsan::run {
namespace {

using model::ChainLink;
using model::ChainStage;
using ::testing::HasSubstr;

model::TopKDifference lost_block(int step, float margin, model::TopKKind kind) {
  model::TopKDifference difference;
  difference.step = step;
  difference.layer = 0;
  difference.lane = 1;
  difference.kind = kind;
  difference.only_eager = {33};
  difference.only_graph = {7};
  difference.eager_scores = {64, 64 - margin};
  difference.graph_scores = {0, 30};
  difference.margin = margin;
  return difference;
}

model::OutputDifference output(int step, int layer, double mean_rel) {
  model::OutputDifference difference;
  difference.step = step;
  difference.layer = layer;
  difference.mean_rel = mean_rel;
  return difference;
}

/// Of a step that has every stage.
std::vector<ChainLink> chain_of(const model::Facts& facts) {
  return build_chain(facts, {model::CacheKind::kTopK, model::CacheKind::kOutput});
}

const ChainLink& link(const std::vector<ChainLink>& chain, ChainStage stage) {
  for (const ChainLink& link : chain) {
    if (link.stage == stage) return link;
  }
  throw std::logic_error{"the chain lacks a stage"};
}

std::vector<ChainStage> broken(const std::vector<ChainLink>& chain) {
  std::vector<ChainStage> stages;
  for (const ChainLink& link : chain) {
    if (link.broken) stages.push_back(link.stage);
  }
  return stages;
}

TEST(BuildChain, IsEmptyWhereNothingIsBroken) {
  EXPECT_TRUE(chain_of(test::facts_scene()).empty());
}

std::vector<ChainStage> stages(const std::vector<ChainLink>& chain) {
  std::vector<ChainStage> stages;
  for (const ChainLink& link : chain) stages.push_back(link.stage);
  return stages;
}

TEST(BuildChain, LeavesOutTheLinksThatAStepDoesNotHave) {
  model::Facts facts = test::facts_scene();
  facts.caches.resize(1);
  test::lose_rows(facts, 1, test::kKey0);
  EXPECT_EQ(stages(build_chain(facts, {})), std::vector{ChainStage::kKeyValueWrite});
  EXPECT_EQ(stages(build_chain(facts, {model::CacheKind::kOutput})),
            (std::vector{ChainStage::kKeyValueWrite, ChainStage::kOutput}));
  facts.caches.push_back(facts.caches[0]);
  facts.caches[1].layer = 1;
  EXPECT_EQ(stages(build_chain(facts, {model::CacheKind::kOutput})),
            (std::vector{ChainStage::kKeyValueWrite, ChainStage::kOutput, ChainStage::kNextLayer}));
}

TEST(BuildChain, BeginsAtARowOfAnyKindOfCache) {
  model::Facts facts = test::facts_scene();
  facts.caches[test::kKey0].kind = model::CacheKind::kOther;
  test::lose_row(facts, 0, test::kKey0, 0);
  EXPECT_TRUE(link(chain_of(facts), ChainStage::kKeyValueWrite).first);
}

TEST(BuildChain, CountsAnOutputOnceThatBothPassesShow) {
  model::Facts facts = test::facts_scene();
  facts.outputs = {output(2, 0, 0.25), output(2, 0, 0.25)};
  facts.outputs[1].carried = true;
  EXPECT_THAT(link(chain_of(facts), ChainStage::kOutput).detail, HasSubstr("1 output differs"));
}

TEST(BuildChain, ATieAloneBreaksNothing) {
  model::Facts facts = test::facts_scene();
  facts.top_k = {lost_block(0, 0, model::TopKKind::kTie)};
  EXPECT_TRUE(chain_of(facts).empty());
}

TEST(BuildChain, BeginsAtTheIndexKeyWriteAndEndsAtTheOutput) {
  model::Facts facts = test::facts_scene();
  facts.caches.push_back(facts.caches[test::kKey0]);
  facts.caches.back().layer = 1;
  test::lose_rows(facts, 1, test::kIndexKey0);
  facts.top_k = {lost_block(2, 34, model::TopKKind::kMismatch)};
  facts.top_k[0].reproduced_from_graph_cache = true;
  facts.outputs = {output(2, 0, 0.25)};
  const auto chain = chain_of(facts);
  ASSERT_EQ(chain.size(), 7U);
  EXPECT_EQ(chain[0].stage, ChainStage::kIndexKeyWrite);
  EXPECT_TRUE(chain[0].first);
  EXPECT_EQ(chain[0].step, 1);
  EXPECT_EQ(chain[0].layer, 0);
  EXPECT_EQ(chain[0].detail, "3 rows missing");
  EXPECT_EQ(broken(chain),
            (std::vector{ChainStage::kIndexKeyWrite, ChainStage::kScore, ChainStage::kTopK,
                         ChainStage::kBlocksRead, ChainStage::kOutput}));
  EXPECT_EQ(link(chain, ChainStage::kKeyValueWrite).detail, "every row equals eager's");
  EXPECT_THAT(link(chain, ChainStage::kScore).detail, HasSubstr("block 33 scores 64 in eager, 0"));
  EXPECT_THAT(link(chain, ChainStage::kTopK).detail, HasSubstr("loses block 33"));
  EXPECT_THAT(link(chain, ChainStage::kTopK).detail, HasSubstr("the indexer is sound"));
  EXPECT_EQ(link(chain, ChainStage::kBlocksRead).detail, "attention reads block 7 instead of 33");
  EXPECT_THAT(link(chain, ChainStage::kOutput).detail, HasSubstr("25 %"));
  EXPECT_EQ(link(chain, ChainStage::kNextLayer).detail, "no later layer differs");
}

TEST(BuildChain, TheFirstLinkIsTheEarliestByStepAndLayer) {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 1, test::kIndexKey0);
  test::lose_rows(facts, 0, test::kKey0);
  const auto chain = chain_of(facts);
  EXPECT_TRUE(link(chain, ChainStage::kKeyValueWrite).first);
  EXPECT_TRUE(link(chain, ChainStage::kIndexKeyWrite).broken);
  EXPECT_FALSE(link(chain, ChainStage::kIndexKeyWrite).first);
}

TEST(BuildChain, OtherBytesInALayerAfterAWrongOutputAreItsConsequence) {
  model::Facts facts = test::facts_scene();
  model::RowDifference row;
  row.step = 1;
  row.cache = static_cast<int>(facts.caches.size());
  row.row_class = model::RowClass::kWrongValue;
  model::CacheLayout later;
  later.kind = model::CacheKind::kKey;
  later.layer = 5;
  facts.caches.push_back(later);
  facts.rows = {row};
  EXPECT_FALSE(is_consequence(facts, row));
  EXPECT_TRUE(link(chain_of(facts), ChainStage::kKeyValueWrite).first);
  facts.outputs = {output(1, 0, 0.1)};
  EXPECT_TRUE(is_consequence(facts, row));
  EXPECT_FALSE(link(chain_of(facts), ChainStage::kKeyValueWrite).broken);
  EXPECT_TRUE(link(chain_of(facts), ChainStage::kOutput).first);
}

TEST(BuildChain, SaysWhenTheReplayWroteNoSelection) {
  model::Facts facts = test::facts_scene();
  facts.top_k = {lost_block(0, 34, model::TopKKind::kMismatch)};
  facts.top_k[0].graph_ids.clear();
  facts.top_k[0].only_graph.clear();
  facts.top_k[0].reproduced_from_graph_cache = false;
  const auto chain = chain_of(facts);
  EXPECT_THAT(link(chain, ChainStage::kTopK).detail, HasSubstr("wrote no selection"));
  EXPECT_EQ(link(chain, ChainStage::kTopK).detail.find("to blame"), std::string::npos);
  EXPECT_THAT(link(chain, ChainStage::kBlocksRead).detail, HasSubstr("no block to read"));
}

TEST(BuildChain, ComparesNoScoresThatNobodyGave) {
  model::Facts facts = test::facts_scene();
  facts.top_k = {lost_block(0, 34, model::TopKKind::kMismatch)};
  const float none = std::numeric_limits<float>::quiet_NaN();
  facts.top_k[0].eager_scores.assign(facts.top_k[0].eager_scores.size(), none);
  facts.top_k[0].graph_scores.assign(facts.top_k[0].graph_scores.size(), none);
  EXPECT_FALSE(link(chain_of(facts), ChainStage::kScore).broken);
}

TEST(BuildChain, HasOneFirstLink) {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 0, test::kKey0);
  facts.outputs = {output(0, 0, 0.1), output(0, 1, 0.2)};
  const auto chain = chain_of(facts);
  int first = 0;
  for (const ChainLink& link : chain) first += link.first ? 1 : 0;
  EXPECT_EQ(first, 1);
  EXPECT_TRUE(link(chain, ChainStage::kKeyValueWrite).first);
  EXPECT_FALSE(link(chain, ChainStage::kIndexKeyWrite).broken);
  EXPECT_TRUE(link(chain, ChainStage::kNextLayer).broken);
  EXPECT_EQ(link(chain, ChainStage::kNextLayer).layer, 1);
}

TEST(BuildChain, KeepsTheOutputLinkToTheFirstLayerThatDiffers) {
  model::Facts facts = test::facts_scene();
  facts.outputs = {output(1, 0, 0.125), output(1, 1, 0.75)};
  const auto chain = chain_of(facts);
  EXPECT_EQ(link(chain, ChainStage::kOutput).layer, 0);
  EXPECT_THAT(link(chain, ChainStage::kOutput).detail, HasSubstr("12.5 %"));
  EXPECT_TRUE(link(chain, ChainStage::kOutput).first);
}

TEST(BuildChain, ShowsTheSelectionWithTheWidestMarginAndNoTie) {
  model::Facts facts = test::facts_scene();
  facts.top_k = {lost_block(0, 2, model::TopKKind::kMismatch),
                 lost_block(1, 40, model::TopKKind::kTie),
                 lost_block(2, 20, model::TopKKind::kMismatch)};
  EXPECT_EQ(link(chain_of(facts), ChainStage::kTopK).step, 2);
}

TEST(BuildChain, BlamesTheIndexerWhenTheReferenceSelectsOtherwise) {
  model::Facts facts = test::facts_scene();
  facts.top_k = {lost_block(0, 2, model::TopKKind::kMismatch)};
  facts.top_k[0].graph_scores = facts.top_k[0].eager_scores;
  facts.top_k[0].reproduced_from_graph_cache = false;
  const auto chain = chain_of(facts);
  EXPECT_FALSE(link(chain, ChainStage::kScore).broken);
  EXPECT_TRUE(link(chain, ChainStage::kTopK).first);
  EXPECT_THAT(link(chain, ChainStage::kTopK).detail, HasSubstr("the indexer is to blame"));
}

TEST(BuildChain, CountsMissingStrayAndWrongRowsApart) {
  model::Facts facts = test::facts_scene();
  test::lose_row(facts, 0, test::kIndexKey0, 0);
  test::stray_row(facts, 0, test::kIndexKey0);
  test::lose_row(facts, 0, test::kIndexKey0, 1);
  facts.rows.back().row_class = model::RowClass::kWrongValue;
  EXPECT_EQ(chain_of(facts)[0].detail, "1 row missing, 1 row stray, 1 row with other bytes");
}

TEST(BuildChain, RowsThatEagerItselfLeavesOutBreakNoLink) {
  model::Facts facts = test::facts_scene();
  test::lose_row(facts, 0, test::kKey0, 0);
  facts.rows.back().row_class = model::RowClass::kEagerMissing;
  model::WriteSets& sets = test::writes_of(facts, 0, test::kKey0);
  std::swap(sets.eager, sets.graph);
  EXPECT_TRUE(chain_of(facts).empty());
  facts.outputs = {output(0, 0, 0.25)};
  EXPECT_TRUE(chain_of(facts).empty());
  facts.outputs.front().lane = 2;  // of a sequence that lacks no row
  EXPECT_TRUE(link(chain_of(facts), ChainStage::kOutput).broken);
}

}  // namespace
}  // namespace graphsan::run
