#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// Pad lane 3 writes index-key's last row on every replay.
model::Facts last_row_overwritten() {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::stray_row(facts, step, test::kIndexKey0);
  return facts;
}

std::optional<diagnose::Suspicion> recognise(const model::Facts& facts) {
  std::vector<diagnose::Suspicion> all = make_padding_write_probe()->recognise(facts);
  EXPECT_LE(all.size(), 1U);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

diagnose::Diagnosis diagnose_alone(const model::Facts& facts, diagnose::Experiments* experiments) {
  diagnose::ProbeRegistry registry;
  registry.add({"padding-write", "", ""}, make_padding_write_probe());
  return diagnose::diagnose(facts, registry, experiments);
}

TEST(PaddingWriteProbe, IsSilentOnASoundGraph) {
  EXPECT_FALSE(recognise(test::facts_scene()).has_value());
}

TEST(PaddingWriteProbe, RecognisesAPadLanesBytesOutsideTheSlotMapping) {
  const auto suspicion = recognise(last_row_overwritten());
  ASSERT_TRUE(suspicion.has_value());
  const model::Finding& finding = suspicion->finding;
  EXPECT_EQ(finding.mechanism, "padding-write");
  EXPECT_THAT(finding.summary, HasSubstr("pad lanes write index-key"));
  ASSERT_EQ(finding.where.size(), 1U);
  EXPECT_EQ(finding.where[0].cache, model::CacheKind::kIndexKey);
  // One row, said once although it is written at each of three steps.
  EXPECT_EQ(finding.where[0].rows, (std::vector<model::PageSlot>{{7, 3}}));
  EXPECT_EQ(finding.where[0].kernel, "index_key_write");
  EXPECT_EQ(finding.where[0].node, 1);
  EXPECT_EQ(suspicion->rows.size(), 3U);
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("the pool's last row")));
  EXPECT_THAT(finding.evidence, Contains("the batch has 3 real lanes in a bucket of 4"));
  EXPECT_THAT(finding.evidence, Contains("the bytes found there are pad lane 3's, in 3 of 3 stray "
                                         "writes"));
  EXPECT_THAT(finding.evidence, Not(Contains(HasSubstr("run eagerly"))));
}

TEST(PaddingWriteProbe, RecognisesAStrayThatThePaddedBatchShowsWithoutAGraph) {
  model::Facts facts = test::facts_scene();
  model::RowDifference& row = test::stray_row(facts, 1, test::kKey0, 2);
  row.origin = {};
  row.padded_eager_shows_it = true;
  row.places = {model::Place::kNullPage};
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_EQ(suspicion->finding.first_step, 1);
  EXPECT_EQ(suspicion->rows, (std::vector<RowKey>{{1, test::kKey0, 2}}));
  EXPECT_THAT(suspicion->finding.evidence, Contains(HasSubstr("page 0, the null page")));
  EXPECT_THAT(suspicion->finding.evidence,
              Contains(HasSubstr("run eagerly, without a graph, strays in 1 of 1 cases")));
}

TEST(PaddingWriteProbe, IsSilentOnAStrayOfUnknownOrigin) {
  model::Facts facts = test::facts_scene();
  test::stray_row(facts, 0, test::kIndexKey0).origin = {};
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(PaddingWriteProbe, IsSilentOnAStrayInAFullBucket) {
  model::Facts facts = test::facts_scene(3, 3);
  test::stray_row(facts, 0, test::kIndexKey0).padded_eager_shows_it = true;
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(PaddingWriteProbe, IsSilentOnMissingRows) {
  model::Facts facts = test::facts_scene();
  test::lose_rows(facts, 0, test::kKey0);
  for (model::RowDifference& row : facts.rows) row.padded_eager_shows_it = true;
  EXPECT_FALSE(recognise(facts).has_value());
}

TEST(PaddingWriteProbe, NamesNoNodeForAGuardZoneThatNoBufferHolds) {
  model::Facts facts = test::facts_scene();
  facts.segments[0].nodes[0].addresses.push_back({"+8", 8, 0x7000, model::OwnerKind::kUnknown, ""});
  test::stray_row(facts, 0, test::kGuard0).places = {model::Place::kGuardZone};
  const auto suspicion = recognise(facts);
  ASSERT_TRUE(suspicion.has_value());
  EXPECT_FALSE(suspicion->finding.where[0].node.has_value());
  EXPECT_THAT(suspicion->finding.evidence, Contains(HasSubstr("outside the cache")));
}

TEST(PaddingWriteProbe, IsConfirmedByAFullBucketAndByPoison) {
  const auto suspicion = recognise(last_row_overwritten());
  ASSERT_TRUE(suspicion.has_value());
  test::FakeExperiments experiments;
  experiments.answer(Change::kFillBucket, test::outcome_of(3, 3, 0))
      .answer(Change::kPoisonPadLanes, test::outcome_of(3, 3, 0, 1));
  const diagnose::Diagnosis diagnosis = diagnose_alone(last_row_overwritten(), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, model::FindingStatus::kConfirmed);
  EXPECT_THAT(diagnosis.findings[0].experiment, HasSubstr("3 of 3 right"));
  EXPECT_THAT(diagnosis.findings[0].experiment, HasSubstr("3 of 3 changed"));
  EXPECT_EQ(experiments.rows(Change::kFillBucket), suspicion->rows);
  EXPECT_EQ(experiments.rows(Change::kPoisonPadLanes), suspicion->rows);
}

TEST(PaddingWriteProbe, IsRefutedWhereThePadLanesValuesDoNotReachTheRows) {
  test::FakeExperiments experiments;
  experiments.answer(Change::kFillBucket, test::outcome_of(3, 3, 0))
      .answer(Change::kPoisonPadLanes, test::outcome_of(3, 0, 0, 1));
  const diagnose::Diagnosis diagnosis = diagnose_alone(last_row_overwritten(), &experiments);
  EXPECT_TRUE(diagnosis.findings.empty());
}

TEST(PaddingWriteProbe, PoisonsNothingWhenTheBucketCannotBeFilled) {
  test::FakeExperiments experiments;
  experiments.answer(Change::kFillBucket, diagnose::NotRunnable{"another number of lanes"});
  const diagnose::Diagnosis diagnosis = diagnose_alone(last_row_overwritten(), &experiments);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].status, model::FindingStatus::kSuspected);
  EXPECT_THAT(diagnosis.findings[0].not_runnable, HasSubstr("another number of lanes"));
  EXPECT_FALSE(experiments.asked(Change::kPoisonPadLanes));
}

TEST(PaddingWriteProbe, RulesItselfOutByTheRowsThatWereWritten) {
  EXPECT_EQ(make_padding_write_probe()->rule_out(test::facts_scene(3, 4)),
            "no row outside the slot mapping changed, guard zones included (27 rows were written, "
            "with pad lanes in the batch)");
  EXPECT_EQ(make_padding_write_probe()->rule_out(test::facts_scene(3, 3)),
            "no row outside the slot mapping changed, guard zones included (27 rows were written)");
  EXPECT_FALSE(make_padding_write_probe()->rule_out(last_row_overwritten()).has_value());
}

}  // namespace
}  // namespace graphsan::probes
