#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "diagnose/diagnosis.hpp"
#include "probes/mechanisms.hpp"
#include "tests/support/facts_scene.hpp"
#include "tests/support/fake_experiments.hpp"

namespace graphsan::probes {
namespace {

using diagnose::Change;
using diagnose::RowKey;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Every replay leaves all rows of key, value and index-key alone, and no write was captured.
model::Facts all_writes_elided() {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) {
    for (int cache = 0; cache < test::kGuard0; ++cache) test::lose_rows(facts, step, cache);
  }
  test::lose_node(facts, 0);
  test::lose_node(facts, 1);
  return facts;
}

std::optional<diagnose::Suspicion> recognise(const model::Facts& facts) {
  std::vector<diagnose::Suspicion> all = make_elided_write_probe()->recognise(facts);
  EXPECT_LE(all.size(), 1U);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

diagnose::Diagnosis diagnose_alone(const model::Facts& facts, diagnose::Experiments* experiments) {
  diagnose::ProbeRegistry registry;
  registry.add({"elided-write", "", ""}, make_elided_write_probe());
  return diagnose::diagnose(facts, registry, experiments);
}

/// The key write alone is elided, and only a tracer saw the launches: their operands are unknown.
model::Facts traced_key_write_elided() {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kKey0);
  test::lose_node(facts, 0);
  for (model::Work& launch : facts.eager_launches) {
    launch.arguments.clear();
    launch.addresses.clear();
  }
  return facts;
}

TEST(ElidedWriteProbe, HoldsOneBucketsGraphToItsOwnSteps) {
  model::Facts facts = test::facts_scene();
  for (int step = 1; step < 3; ++step) test::lose_rows(facts, step, test::kKey0);
  test::lose_node(facts, 0);
  EXPECT_FALSE(recognise(facts)) << "step 0 replays the same graph, and writes";
  facts.steps[0].bucket = 8;
  EXPECT_TRUE(recognise(facts));
}

TEST(ElidedWriteProbe, ExpectsNoRowOfALaneWithoutASlot) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) {
    for (int lane = 0; lane < 3; ++lane) {
      // Another lane writes nothing in each step, as in a batch that changes.
      if (lane != step) {
        test::lose_row(facts, step, test::kKey0, lane);
        continue;
      }
      auto& lanes = facts.steps[static_cast<std::size_t>(step)].lanes;
      model::WriteSets& sets = test::writes_of(facts, step, test::kKey0);
      const std::int64_t row = std::exchange(lanes[static_cast<std::size_t>(lane)].slot, -1);
      for (auto* rows : {&sets.expected, &sets.eager, &sets.padded_eager, &sets.graph}) {
        std::erase(*rows, row);
      }
    }
  }
  test::lose_node(facts, 0);
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_EQ(suspicion->rows.size(), 6U);
}

TEST(ElidedWriteProbe, NamesTheOneTracedLaunchThatHasNoNode) {
  const auto suspicion = recognise(traced_key_write_elided());
  ASSERT_TRUE(suspicion.has_value());
  ASSERT_EQ(suspicion->finding.where.size(), 1U);
  EXPECT_EQ(suspicion->finding.where[0].source, "layer 0 / insert");
  EXPECT_THAT(suspicion->finding.evidence,
              Contains(HasSubstr("reshape_and_cache_flash (layer 0 / insert)")));
}

TEST(ElidedWriteProbe, NamesEveryPlaceWhereSeveralTracedLaunchesHaveNoNode) {
  model::Facts facts = traced_key_write_elided();
  test::lose_node(facts, 1);
  facts.eager_launches[0].source = "model.py:12";
  facts.eager_launches[1].source = "model.py:15";
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_EQ(suspicion->finding.where[0].source, "model.py:12, :15");
  EXPECT_EQ(suspicion->finding.where[0].kernel, std::nullopt);
  EXPECT_THAT(suspicion->finding.evidence,
              Contains(HasSubstr("2 kernels that eager launches have no node")));
}

TEST(ElidedWriteProbe, LeavesAWriteWhoseSlotsMovedToAnotherMechanism) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kKey0);
  for (model::Work& launch : facts.eager_launches) {
    launch.arguments.clear();
    launch.addresses.clear();
  }
  EXPECT_TRUE(recognise(facts).has_value());
  model::InputFacts slots;
  slots.name = "slot mapping";
  slots.captured_address = 0x100;
  slots.replay_address = 0x200;
  facts.inputs = {slots};
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, IsSilentOnASoundGraph) {
  EXPECT_FALSE(recognise(test::facts_scene()).has_value());
}

TEST(ElidedWriteProbe, RecognisesRowsThatNoReplayWritesAndNamesTheLaunchThatIsGone) {
  const auto suspicion = recognise(all_writes_elided());
  ASSERT_TRUE(suspicion.has_value());
  const model::Finding& finding = suspicion->finding;
  EXPECT_EQ(finding.mechanism, "elided-write");
  EXPECT_EQ(finding.status, model::FindingStatus::kSuspected);
  EXPECT_EQ(finding.first_step, 0);
  EXPECT_THAT(finding.summary, HasSubstr("never writes key, value and index-key"));
  ASSERT_EQ(finding.where.size(), 3U);
  EXPECT_EQ(finding.where[0].cache, model::CacheKind::kKey);
  EXPECT_EQ(finding.where[0].kernel, "reshape_and_cache_flash");
  EXPECT_EQ(finding.where[0].source, "layer 0 / insert");
  EXPECT_EQ(finding.where[2].cache, model::CacheKind::kIndexKey);
  EXPECT_EQ(finding.where[2].kernel, "index_key_write");
  // Rows 8, 16, 24 and their successors, as pages of four slots.
  ASSERT_EQ(finding.where[0].rows.size(), 9U);
  EXPECT_EQ(finding.where[0].rows[0], (model::PageSlot{2, 0}));
  EXPECT_EQ(finding.where[0].rows[1], (model::PageSlot{2, 1}));
  EXPECT_EQ(suspicion->rows.size(), 27U);
  EXPECT_EQ(suspicion->rows.front(), (RowKey{0, test::kKey0, 8}));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("in 3 of 3 replays")));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("eager launches index_key_write (layer 0 / "
                                                   "insert); no node of the graph")));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("padding is not the cause")));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("metadata: none")));
  EXPECT_FALSE(finding.fix.empty());
}

TEST(ElidedWriteProbe, RecognisesAnElidedIndexKeyAlone) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kIndexKey0);
  test::lose_node(facts, 1);
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  ASSERT_EQ(suspicion->finding.where.size(), 1U);
  EXPECT_EQ(suspicion->finding.where[0].cache, model::CacheKind::kIndexKey);
  EXPECT_THAT(suspicion->finding.summary, HasSubstr("never writes index-key:"));
}

TEST(ElidedWriteProbe, RecognisesANodeThatIsThereButNamesOtherMemory) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kIndexKey0);
  facts.segments[0].nodes[1].addresses.clear();
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_THAT(suspicion->finding.evidence,
              Contains(HasSubstr("its node lacks that memory or another operand")));
  EXPECT_EQ(suspicion->finding.where[0].kernel, "index_key_write");
}

TEST(ElidedWriteProbe, NamesNoLaunchForACacheThatNoBufferHolds) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kIndexKey0);
  test::lose_node(facts, 0);
  facts.cache_buffers[test::kIndexKey0] = "";
  facts.eager_launches[0].addresses[0].owner_name = "";
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_FALSE(suspicion->finding.where[0].kernel.has_value());
}

TEST(ElidedWriteProbe, IsSilentWhenTheNodeThatWritesTheCacheIsThere) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kIndexKey0);
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, IsSilentWhenOneReplayAloneMissesTheRows) {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 1, test::kIndexKey0);
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, LeavesOutTheCacheThatSomeReplayWrites) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kIndexKey0);
  test::lose_rows(facts, 2, test::kKey0);
  test::lose_node(facts, 1);
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_EQ(suspicion->rows.size(), 9U);
  for (const RowKey& row : suspicion->rows) EXPECT_EQ(row.cache, test::kIndexKey0);
}

TEST(ElidedWriteProbe, IsSilentWhenTheLanesThatMissChangeFromReplayToReplay) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_row(facts, step, test::kKey0, step);
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, RecognisesTheSameLaneMissingOnEveryReplay) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_row(facts, step, test::kKey0, 2);
  test::lose_node(facts, 0);
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_EQ(suspicion->rows.size(), 3U);
}

TEST(ElidedWriteProbe, AStepOfAnotherKindMayReplayASoundGraph) {
  model::Facts facts = test::facts_scene();
  facts.steps[0].batch = "prefill";
  test::lose_rows(facts, 0, test::kIndexKey0);
  test::lose_node(facts, 1);
  EXPECT_TRUE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, AnUncoveredStepProvesNothing) {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 2; ++step) test::lose_rows(facts, step, test::kKey0);
  test::lose_node(facts, 0);
  EXPECT_FALSE(recognise(facts).has_value());
  facts.steps[2].covered = false;
  EXPECT_TRUE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, IsSilentOnRowsThatHoldSomethingElse) {
  model::Facts facts = all_writes_elided();
  for (model::RowDifference& row : facts.rows) row.origin.kind = model::OriginKind::kOtherRow;
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(ElidedWriteProbe, DoesNotClearPaddingWhenPaddedEagerMissesTheRowsToo) {
  model::Facts facts = all_writes_elided();
  for (model::RowDifference& row : facts.rows) row.padded_eager_shows_it = true;
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_THAT(suspicion->finding.evidence, Not(Contains(HasSubstr("padding is not the cause"))));
}

TEST(ElidedWriteProbe, IsConfirmedByACaptureWithLiveMetadata) {
  const auto suspicion = recognise(all_writes_elided());
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_TRUE(suspicion->refutable);
  test::FakeExperiments experiments;
  experiments.answer(Change::kLiveCapture, test::outcome_of(27, 27, 0));
  const diagnose::Diagnosis diagnosis = diagnose_alone(all_writes_elided(), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, model::FindingStatus::kConfirmed);
  EXPECT_EQ(experiments.rows(Change::kLiveCapture), suspicion->rows);
}

TEST(ElidedWriteProbe, RulesItselfOutByTheRowsThatWereWritten) {
  const auto why = make_elided_write_probe()->rule_out(test::facts_scene());
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(*why, "every one of the 27 rows that the slot mapping names is written by the graph");
  EXPECT_FALSE(make_elided_write_probe()->rule_out(all_writes_elided()).has_value());
  EXPECT_FALSE(make_elided_write_probe()->rule_out(model::Facts{}).has_value());
}

}  // namespace
}  // namespace graphsan::probes
