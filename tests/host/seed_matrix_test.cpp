#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/check_scene.hpp"

namespace graphsan::check {
namespace {

using model::CacheKind;
using model::DType;
using model::RowClass;
using step::minimax_m3::Config;
using step::minimax_m3::Mode;
using step::minimax_m3::WritePath;

using Mechanisms = std::map<std::string, std::set<CacheKind>>;

const Mechanisms kElided{
    {"elided-write", {CacheKind::kKey, CacheKind::kValue, CacheKind::kIndexKey}}};
const Mechanisms kPadding{{"padding-write", {CacheKind::kIndexKey}}};

/// The table of docs/minimax-m3.md: what the write paths do in decode, captured at start.
Mechanisms expected(DType dtype, WritePath path, Mode mode, bool padded) {
  if (dtype == DType::kBf16) return {};
  switch (path) {
    case WritePath::kFused:
    case WritePath::kTwoStep:
      return {};
    case WritePath::kInsertKvA:
      if (mode == Mode::kPiecewise) return kElided;
      return padded ? kPadding : Mechanisms{};
    case WritePath::kInsertKvB:
      return padded ? kPadding : Mechanisms{};
  }
  return {};
}

void expect_elided(const model::CaseReport& report) {
  const auto missing = test::rows_of(report, RowClass::kMissing);
  std::size_t mapped = 0;
  for (const model::WriteSets& sets : report.facts.writes) {
    mapped += sets.expected.size();
    EXPECT_TRUE(sets.graph.empty());
  }
  EXPECT_EQ(missing.size(), mapped);
  EXPECT_EQ(missing.size(), report.facts.rows.size());
  for (const model::RowDifference& row : missing) {
    EXPECT_EQ(row.origin.kind, model::OriginKind::kUntouched);
    EXPECT_FALSE(row.padded_eager_shows_it);
  }
}

void expect_padding(const model::CaseReport& report) {
  const auto strays = test::rows_of(report, RowClass::kStray);
  std::set<int> sparse;
  for (const model::CacheLayout& cache : report.facts.caches) {
    if (cache.kind == CacheKind::kIndexKey) sparse.insert(cache.layer);
  }
  // Once a step and sparse layer: all pad lanes write the same row.
  EXPECT_EQ(strays.size(), report.facts.steps.size() * sparse.size());
  for (const model::RowDifference& row : strays) {
    const model::CacheLayout& cache = report.facts.caches[static_cast<std::size_t>(row.cache)];
    EXPECT_EQ(row.row, cache.rows() - 1);
    EXPECT_EQ(row.origin.kind, model::OriginKind::kPadLane);
    EXPECT_TRUE(row.padded_eager_shows_it);
    ASSERT_TRUE(row.owner.has_value());
    EXPECT_EQ(row.owner->sequence, 0);
  }
  // What else differs follows: the rows of layers behind one that selected other blocks.
  for (const model::RowDifference& row : report.facts.rows) {
    if (row.row_class == RowClass::kStray) continue;
    EXPECT_EQ(row.row_class, RowClass::kWrongValue);
    EXPECT_TRUE(row.padded_eager_shows_it);
    EXPECT_GT(report.facts.caches[static_cast<std::size_t>(row.cache)].layer, *sparse.begin());
  }
}

/// The verdict and the mechanisms of a cell, each confirmed by its experiment; or the proof of an
/// agreement.
void expect_cell(const CaseRequest& request, const Mechanisms& mechanisms) {
  const test::CheckedCase checked = test::check_on_host(request);
  const model::CaseReport& report = checked.report;
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(test::mechanisms(report), mechanisms);
  EXPECT_TRUE(report.facts.stability.stable);
  EXPECT_GT(report.facts.rows_compared, 0U);
  EXPECT_EQ(report.facts.rows_dropped, 0U);
  EXPECT_EQ(report.facts.replays, static_cast<std::uint64_t>(request.config.steps));
  EXPECT_GT(report.facts.nodes, 0U);
  for (const model::Finding& finding : report.findings) {
    EXPECT_EQ(finding.status, model::FindingStatus::kConfirmed) << finding.not_runnable;
    EXPECT_EQ(finding.first_step, 0);
  }
  EXPECT_EQ(checked.phases.contains(model::Phase::kCarried), !mechanisms.empty());
  if (mechanisms.empty()) {
    EXPECT_EQ(report.verdict, model::Verdict::kAgreed) << report.reason;
    EXPECT_TRUE(report.facts.rows.empty());
    EXPECT_TRUE(report.facts.top_k.empty());
    EXPECT_TRUE(report.facts.outputs.empty());
    EXPECT_TRUE(report.facts.chain.empty());
    return;
  }
  EXPECT_EQ(report.verdict, model::Verdict::kDiverged);
  if (mechanisms == kElided) expect_elided(report);
  if (mechanisms == kPadding) expect_padding(report);
}

struct Cell {
  DType dtype;
  WritePath path;
  Mode mode;
  bool padded;
};

std::vector<Cell> matrix() {
  std::vector<Cell> cells;
  for (const DType dtype : {DType::kBf16, DType::kFp8E5M2}) {
    for (const WritePath path :
         {WritePath::kFused, WritePath::kTwoStep, WritePath::kInsertKvA, WritePath::kInsertKvB}) {
      for (const Mode mode : {Mode::kPiecewise, Mode::kBreakable, Mode::kFull}) {
        for (const bool padded : {true, false}) cells.push_back({dtype, path, mode, padded});
      }
    }
  }
  return cells;
}

std::string as_identifier(std::string text) {
  for (char& c : text) {
    if (c == '-' || c == ' ') c = '_';
  }
  return text;
}

std::string name_of(const ::testing::TestParamInfo<Cell>& info) {
  return as_identifier(std::string{model::to_string(info.param.dtype)} + " " +
                       std::string{to_string(info.param.path)} + " " +
                       std::string{to_string(info.param.mode)} +
                       (info.param.padded ? " padded" : " full bucket"));
}

class SeedMatrix : public ::testing::TestWithParam<Cell> {};

TEST_P(SeedMatrix, FindsWhatTheTableSays) {
  const Cell& cell = GetParam();
  expect_cell(test::decode_case(cell.dtype, cell.path, cell.mode, cell.padded),
              expected(cell.dtype, cell.path, cell.mode, cell.padded));
}

INSTANTIATE_TEST_SUITE_P(Cells, SeedMatrix, ::testing::ValuesIn(matrix()), name_of);

struct Shape {
  const char* name;
  std::function<void(Config&)> change;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class SeedMatrixShapes : public ::testing::TestWithParam<Shape> {};

TEST_P(SeedMatrixShapes, ChangeNoMechanism) {
  const Cell cells[] = {{DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kPiecewise, true},
                        {DType::kFp8E5M2, WritePath::kInsertKvB, Mode::kFull, true},
                        {DType::kFp8E5M2, WritePath::kTwoStep, Mode::kPiecewise, true}};
  for (const Cell& cell : cells) {
    SCOPED_TRACE(to_string(cell.path));
    CaseRequest request = test::decode_case(cell.dtype, cell.path, cell.mode, cell.padded);
    GetParam().change(request.config);
    expect_cell(request, expected(cell.dtype, cell.path, cell.mode, cell.padded));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SeedMatrixShapes,
    ::testing::Values(Shape{"E4M3", [](Config& c) { c.kv_dtype = DType::kFp8E4M3; }},
                      Shape{"Hnd", [](Config& c) { c.layout = step::minimax_m3::Layout::kHnd; }},
                      Shape{"GenerationB",
                            [](Config& c) { c.generation = step::minimax_m3::Generation::kB; }},
                      Shape{"GenerationBHnd",
                            [](Config& c) {
                              c.generation = step::minimax_m3::Generation::kB;
                              c.layout = step::minimax_m3::Layout::kHnd;
                              c.tp = 2;
                            }},
                      Shape{"PageSize16", [](Config& c) { c.page_size = 16; }},
                      Shape{"TensorParallel1", [](Config& c) { c.tp = 1; }},
                      Shape{"ThreeLayers", [](Config& c) { c.layers = 3; }},
                      Shape{"OneLayer", [](Config& c) { c.layers = 1; }},
                      Shape{"AnotherSeed", [](Config& c) { c.seed = 20260; }},
                      Shape{"CapturedBetweenRequests",
                            [](Config& c) { c.capture_at = step::minimax_m3::CaptureAt::kLive; }}),
    [](const ::testing::TestParamInfo<Shape>& shape) { return std::string{shape.param.name}; });

TEST(SeedMatrixModes, FullDecodeOnlyIsAsFullForDecode) {
  for (const bool padded : {true, false}) {
    expect_cell(
        test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kFullDecodeOnly, padded),
        padded ? kPadding : Mechanisms{});
  }
}

TEST(SeedMatrixModes, FullAndPiecewiseElidesAShortPrefillAndNotDecode) {
  CaseRequest request =
      test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kFullAndPiecewise, false);
  expect_cell(request, {});
  request.config.batch = step::minimax_m3::Batch::kPrefill;
  expect_cell(request, kElided);
}

TEST(SeedMatrixModes, ALongPrefillIsExplainedWhole) {
  CaseRequest request =
      test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kPiecewise, false);
  request.config.batch = step::minimax_m3::Batch::kPrefill;
  request.config.tokens = 512;
  request.config.bucket = 512;
  request.config.context = 2304;
  request.config.steps = 2;
  const model::CaseReport report = test::check_on_host(request).report;
  EXPECT_EQ(test::mechanisms(report), kElided);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].status, model::FindingStatus::kConfirmed);
  // Two layers' K and V and one index-K, 512 lanes, two steps: more rows than keep their bytes.
  EXPECT_EQ(report.facts.rows.size(), 5U * 512U * 2U);
  EXPECT_EQ(report.facts.rows_dropped, 0U);
}

TEST(SeedMatrixModes, APrefillBeyondTheLimitRunsEagerlyAndProvesNothing) {
  CaseRequest request =
      test::decode_case(DType::kFp8E5M2, WritePath::kInsertKvA, Mode::kFullAndPiecewise, false);
  request.config.batch = step::minimax_m3::Batch::kPrefill;
  request.config.capture_limit = 3;
  const model::CaseReport report = test::check_on_host(request).report;
  EXPECT_EQ(report.verdict, model::Verdict::kInconclusive);
  EXPECT_EQ(report.facts.replays, 0U);
  ASSERT_EQ(report.not_covered.size(), 4U);
  EXPECT_NE(report.not_covered[0].find("more than the capture limit of 3"), std::string::npos);
}

}  // namespace
}  // namespace graphsan::check
