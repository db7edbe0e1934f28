#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "run/consequences.hpp"
#include "tests/support/output_log.hpp"

namespace graphsan::run {
namespace {

using model::TopKDifference;
using model::TopKKind;
using test::reference;
using test::selection_rows;

using Ids = std::vector<std::vector<std::int32_t>>;
using Scores = std::vector<std::vector<float>>;

constexpr int kLayer = 3;

/// Eager's scores of ten blocks for two lanes: in lane 0 block 4 ties with block 5.
const Scores kScores{{9, 1, 8, 2, 5, 5, 3, 0, 1, 7}, {0, 9, 1, 8, 2, 3, 4, 5, 6, 7}};
const Ids kEager{{0, 2, 4, 9}, {1, 3, 8, 9}};

/// A log whose steps hold the given selections of two lanes, four blocks each.
class Arm {
 public:
  [[nodiscard]] Arm step(const Ids& ids, const std::optional<Scores>& scores) && {
    StepLog log;
    log.step = static_cast<int>(log_.steps.size());
    log.outputs.push_back(selection_rows(kLayer, 1, ids));
    if (scores) log.selections.push_back(reference(ids, *scores));
    log_.steps.push_back(std::move(log));
    return std::move(*this);
  }
  [[nodiscard]] const ArmLog& log() const { return log_; }

 private:
  ArmLog log_;
};

/// The only difference of a step in which the graph selects `lane0` in lane 0.
TopKDifference difference_of(const std::vector<std::int32_t>& lane0,
                             const Scores& graph_scores = kScores, float noise = 0) {
  const Arm eager = Arm{}.step(kEager, kScores);
  const Arm graph = Arm{}.step({lane0, kEager[1]}, graph_scores);
  const auto found =
      compare_selections(test::covered_steps(1), eager.log(), graph.log(), noise, false);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? TopKDifference{} : found.front();
}

TEST(CompareSelections, SaysNothingOfEqualSets) {
  const Arm eager = Arm{}.step(kEager, kScores);
  const Arm graph = Arm{}.step({{9, 4, 2, 0}, {3, 1, 9, 8}}, kScores);
  EXPECT_TRUE(
      compare_selections(test::covered_steps(1), eager.log(), graph.log(), 0, false).empty());
}

TEST(CompareSelections, ListsWhatEachArmAloneSelectedWithBothArmsScores) {
  Scores graph_scores = kScores;
  graph_scores[0][2] = 0.5F;
  const TopKDifference difference = difference_of({0, 4, 6, 9}, graph_scores);
  EXPECT_EQ(difference.kind, TopKKind::kMismatch);
  EXPECT_EQ(difference.layer, kLayer);
  EXPECT_EQ(difference.lane, 0);
  EXPECT_EQ(difference.head, 0);
  EXPECT_EQ(difference.eager_ids, (std::vector<int>{0, 2, 4, 9}));
  EXPECT_EQ(difference.graph_ids, (std::vector<int>{0, 4, 6, 9}));
  EXPECT_EQ(difference.only_eager, std::vector<int>{2});
  EXPECT_EQ(difference.only_graph, std::vector<int>{6});
  EXPECT_EQ(difference.eager_scores, (std::vector<float>{8, 3}));
  EXPECT_EQ(difference.graph_scores, (std::vector<float>{0.5F, 3}));
  EXPECT_FLOAT_EQ(difference.margin, 5);
  EXPECT_EQ(difference.reproduced_from_graph_cache, true);
}

TEST(CompareSelections, SaysWhenTheGraphsCacheDoesNotExplainTheSelection) {
  const Arm eager = Arm{}.step(kEager, kScores);
  const Arm graph = Arm{}.step({{0, 4, 6, 9}, kEager[1]}, std::nullopt);
  ArmLog log;
  log.steps.resize(1);
  log.steps[0].outputs = graph.log().steps[0].outputs;
  log.steps[0].selections.push_back(reference(kEager, kScores));
  const auto found = compare_selections(test::covered_steps(1), eager.log(), log, 0, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].reproduced_from_graph_cache, false);
}

TEST(CompareSelections, AnIdThatIsNoBlockIsOutOfRange) {
  EXPECT_EQ(difference_of({0, 2, 4, 10}).kind, TopKKind::kOutOfRange);
  EXPECT_EQ(difference_of({-7, 0, 2, 4}).kind, TopKKind::kOutOfRange);
  EXPECT_EQ(difference_of({-1, -1, -1, -1}).kind, TopKKind::kOutOfRange);
}

TEST(CompareSelections, AnIdThatComesTwiceIsADuplicate) {
  EXPECT_EQ(difference_of({0, 2, 2, 9}).kind, TopKKind::kDuplicate);
}

TEST(CompareSelections, TheFirstOrTheNewestBlocksAreTrivial) {
  EXPECT_EQ(difference_of({0, 1, 2, 3}).kind, TopKKind::kTrivial);
  EXPECT_EQ(difference_of({6, 7, 8, 9}).kind, TopKKind::kTrivial);
}

TEST(CompareSelections, AnotherLanesSelectionIsNamedSo) {
  EXPECT_EQ(difference_of(kEager[1]).kind, TopKKind::kOtherLane);
}

TEST(CompareSelections, AnEarlierStepsSelectionOfTheLaneIsNamedSo) {
  const Arm eager = Arm{}.step({{0, 2, 6, 9}, {1, 3, 7, 9}}, kScores).step(kEager, kScores);
  const Arm graph =
      Arm{}.step({{0, 2, 6, 9}, {1, 3, 7, 9}}, kScores).step({{0, 2, 6, 9}, kEager[1]}, kScores);
  const auto found = compare_selections(test::covered_steps(2), eager.log(), graph.log(), 0, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].step, 1);
  EXPECT_EQ(found[0].kind, TopKKind::kEarlier);
}

TEST(CompareSelections, ASwapOfBlocksThatTieInEagerIsATie) {
  const TopKDifference difference = difference_of({0, 2, 5, 9});
  EXPECT_EQ(difference.kind, TopKKind::kTie);
  EXPECT_EQ(difference.margin, 0);
}

TEST(CompareSelections, EqualScoresInTheGraphAloneAreNoTie) {
  const Scores flat{std::vector<float>(10, 2.5F), kScores[1]};
  const TopKDifference difference = difference_of({0, 4, 6, 9}, flat);
  EXPECT_EQ(difference.kind, TopKKind::kMismatch);
  EXPECT_EQ(difference.graph_scores, (std::vector<float>{2.5F, 2.5F}));
  EXPECT_FLOAT_EQ(difference.margin, 5);
}

TEST(CompareSelections, ATieIsWidenedByTheNoiseOfEagerOnly) {
  EXPECT_EQ(difference_of({0, 2, 6, 9}).kind, TopKKind::kMismatch);
  EXPECT_EQ(difference_of({0, 2, 6, 9}, kScores, 2.0F).kind, TopKKind::kTie);
}

TEST(CompareSelections, AWorseBlockInEagerIsNoTieEither) {
  // Eager kept block 4 although block 6 scores higher by its own scores: its indexer is wrong.
  const Scores scores{{9, 1, 8, 2, 1, 5, 6, 0, 1, 7}, kScores[1]};
  const Arm eager = Arm{}.step(kEager, scores);
  const Arm graph = Arm{}.step({{0, 2, 6, 9}, kEager[1]}, scores);
  const auto found = compare_selections(test::covered_steps(1), eager.log(), graph.log(), 0, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].margin, 0);
  EXPECT_NE(found[0].kind, TopKKind::kTie);
}

TEST(CompareSelections, ABlockLostForNothingIsNoTie) {
  EXPECT_NE(difference_of({0, 2, 9, -1}).kind, TopKKind::kTie);
}

TEST(CompareSelections, LooksAtCoveredStepsOnlyUnlessTheDamageIsCarried) {
  auto steps = test::covered_steps(1);
  steps[0].covered = false;
  const Arm eager = Arm{}.step(kEager, kScores);
  const Arm graph = Arm{}.step({{0, 4, 6, 9}, kEager[1]}, kScores);
  EXPECT_TRUE(compare_selections(steps, eager.log(), graph.log(), 0, false).empty());
  const auto carried = compare_selections(steps, eager.log(), graph.log(), 0, true);
  ASSERT_EQ(carried.size(), 1U);
  EXPECT_TRUE(carried[0].carried);
}

TEST(CompareSelections, ComparesEachHeadByItself) {
  StepLog eager;
  eager.outputs.push_back(selection_rows(kLayer, 2, {{0, 1, 4, 5}}));
  StepLog graph;
  graph.outputs.push_back(selection_rows(kLayer, 2, {{0, 1, 4, 7}}));
  ArmLog ours;
  ours.steps.push_back(std::move(eager));
  ArmLog theirs;
  theirs.steps.push_back(std::move(graph));
  const auto found = compare_selections(test::covered_steps(1), ours, theirs, 0, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].head, 1);
  EXPECT_EQ(found[0].only_graph, std::vector<int>{7});
  EXPECT_FALSE(found[0].reproduced_from_graph_cache.has_value());
}

}  // namespace
}  // namespace graphsan::run
