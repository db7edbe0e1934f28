#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/support/check_scene.hpp"
#include "tests/support/insert_paths.hpp"

namespace graphsan::check {
namespace {

using model::CacheKind;
using model::DType;
using model::RowClass;
using step::minimax_m3::Mode;
using step::minimax_m3::WritePath;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

CaseRequest request_of(bool padded, Mode mode = Mode::kPiecewise) {
  return test::decode_case(DType::kFp8E5M2, WritePath::kTwoStep, mode, padded);
}

template <typename Path>
test::CheckedCase check_path(const CaseRequest& request) {
  return test::check_on_host(request, test::with_path(std::make_shared<Path>()));
}

TEST(PlantedPath, AWriteBeforeTheCacheIsAStrayInItsGuardZone) {
  const model::CaseReport report = check_path<test::GuardZonePath>(request_of(true)).report;
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged);
  const auto strays = test::rows_of(report, RowClass::kStray);
  // One a step and layer: the 128 bytes before the key cache.
  ASSERT_EQ(strays.size(), 4U * 2);
  EXPECT_EQ(strays.size(), report.facts.rows.size());
  for (const model::RowDifference& row : strays) {
    const model::CacheLayout& cache = report.facts.caches[static_cast<std::size_t>(row.cache)];
    EXPECT_EQ(cache.kind, CacheKind::kGuard);
    EXPECT_THAT(cache.name, HasSubstr("kv cache, guard before"));
    EXPECT_EQ(row.row, cache.rows() - 1);
    EXPECT_THAT(row.places, ::testing::ElementsAre(model::Place::kGuardZone));
    EXPECT_TRUE(row.padded_eager_shows_it);
    EXPECT_EQ(row.graph_bytes, std::vector<std::byte>(128, std::byte{0x5A}));
  }
  EXPECT_EQ(test::mechanisms(report),
            (std::map<std::string, std::set<CacheKind>>{{"padding-write", {CacheKind::kGuard}}}));
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].status, model::FindingStatus::kConfirmed);
  EXPECT_EQ(report.findings[0].where[0].kernel, "stamp_rows");
}

TEST(PlantedPath, InAFullBucketOnlyTheWarmUpWritesThereAndThatIsNoted) {
  const model::CaseReport report = check_path<test::GuardZonePath>(request_of(false)).report;
  EXPECT_EQ(report.verdict, model::Verdict::kAgreed) << report.reason;
  ASSERT_EQ(report.facts.capture_changes.size(), 2U);
  EXPECT_FALSE(report.facts.capture_changes[0].overwritten_by_history);
  EXPECT_THAT(report.notes, Contains(HasSubstr("layer 0 kv cache, guard before")));
}

TEST(PlantedPath, WhatAWarmUpLeavesInALiveRowShowsInTheCarriedPassAlone) {
  CaseRequest request = request_of(false);
  request.config.capture_at = step::minimax_m3::CaptureAt::kLive;
  const model::CaseReport report = check_path<test::WarmUpWriterPath>(request).report;
  ASSERT_EQ(report.facts.capture_changes.size(), 1U);
  EXPECT_FALSE(report.facts.capture_changes[0].overwritten_by_history);
  EXPECT_TRUE(report.facts.rows.empty());
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged);
  EXPECT_FALSE(report.facts.top_k.empty());
  for (const model::TopKDifference& difference : report.facts.top_k) {
    EXPECT_TRUE(difference.carried);
    // The row is sequence 0's, and its needle is there.
    EXPECT_EQ(difference.lane, 0);
  }
}

TEST(PlantedPath, HistoryHealsWhatAWarmUpBeforeTheFirstRequestLeaves) {
  // The row is zero before history anyway: nothing changes, and history writes it.
  const model::CaseReport report = check_path<test::WarmUpWriterPath>(request_of(false)).report;
  EXPECT_EQ(report.verdict, model::Verdict::kAgreed) << report.reason;
  EXPECT_TRUE(report.facts.capture_changes.empty());
}

TEST(PlantedPath, AnEagerThatDisagreesWithItselfBlamesNoValueOnTheGraph) {
  const model::CaseReport report = check_path<test::NoisyPath>(request_of(false)).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_TRUE(report.facts.stability.ran);
  EXPECT_FALSE(report.facts.stability.stable);
  EXPECT_GT(report.facts.stability.rows_differing, 0U);
  EXPECT_THAT(report.facts.stability.unstable_caches, Contains("layer 0 key"));
  EXPECT_THAT(report.reason, HasSubstr("eager does not agree with itself"));
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].mechanism, "unstable-eager");
  EXPECT_FALSE(report.failure.has_value());
}

TEST(PlantedPath, MissingRowsNeedNoStableEager) {
  const model::CaseReport report = check_path<test::NoisyElidedPath>(request_of(true)).report;
  EXPECT_FALSE(report.facts.stability.stable);
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged);
  EXPECT_FALSE(test::rows_of(report, RowClass::kMissing).empty());
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].mechanism, "unstable-eager");
  EXPECT_EQ(report.findings[1].mechanism, "elided-write");
}

TEST(PlantedPath, ACaptureThatTheDeviceRefusesIsAFailureWithItsPhase) {
  for (const Mode mode : {Mode::kPiecewise, Mode::kFull}) {
    const test::CheckedCase checked = check_path<test::SynchronizingPath>(request_of(true, mode));
    EXPECT_EQ(checked.report.verdict, model::Verdict::kInconclusive);
    ASSERT_TRUE(checked.report.failure.has_value());
    EXPECT_EQ(checked.report.failure->phase, "capture");
    EXPECT_FALSE(checked.report.failure->what.empty());
    EXPECT_THAT(checked.report.failure->remedy, HasSubstr("may not be captured"));
    EXPECT_FALSE(checked.lost);
  }
}

TEST(PlantedPath, ASynchronizeInAnEagerBreakIsAllowed) {
  const model::CaseReport report =
      check_path<test::SynchronizingPath>(request_of(true, Mode::kBreakable)).report;
  EXPECT_EQ(report.verdict, model::Verdict::kAgreed) << report.reason;
}

TEST(PlantedPath, AStepThatWritesNoCacheIsNeverAgreedAndTheGraphIsNotBlamed) {
  const model::CaseReport report = check_path<test::IdlePath>(request_of(true)).report;
  EXPECT_NE(report.verdict, model::Verdict::kAgreed);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].mechanism, "wrong-everywhere");
  EXPECT_FALSE(report.facts.rows.empty());
  EXPECT_EQ(test::rows_of(report, RowClass::kEagerMissing).size(), report.facts.rows.size());
  EXPECT_FALSE(report.reason.empty());
}

TEST(PlantedPath, APlantedFaultIsFoundAndItsCleanTwinAgrees) {
  CaseRequest request = request_of(true);
  request.fault = "elided-write:index-key";
  const model::CaseReport planted = test::check_on_host(request).report;
  EXPECT_EQ(planted.verdict, model::Verdict::kDiverged);
  EXPECT_THAT(test::mechanisms(planted), Contains(::testing::Key("elided-write")));
  request.clean_twin = true;
  const model::CaseReport twin = test::check_on_host(request).report;
  EXPECT_EQ(twin.verdict, model::Verdict::kAgreed) << twin.reason;
  EXPECT_TRUE(twin.findings.empty());
}

TEST(PlantedPath, AProfilingRunThatWritesIsNoted) {
  const auto path = std::make_shared<test::ProfilingWriterPath>();
  const StepFactory factory = [&](device::Device& device, const CaseRequest& request) {
    auto step = test::with_path(path)(device, request);
    const device::Stream stream = device.create_stream();
    step->reset(stream.get());
    step->prepare(0, step::Arm::kEager, stream.get());
    step->run(0, step::Arm::kEager, stream.get());
    device.synchronize(stream.get());
    return step;
  };
  const model::CaseReport report = test::check_on_host(request_of(true), factory).report;
  EXPECT_THAT(report.notes,
              Contains(HasSubstr("the profiling run, with no cache bound, changed 1 row")));
}

}  // namespace
}  // namespace graphsan::check
