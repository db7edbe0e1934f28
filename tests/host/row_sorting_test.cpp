#include "run/row_sorting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/buffer.hpp"
#include "device/host/host_device.hpp"
#include "kvcache/row_hash.hpp"

namespace graphsan::run {
namespace {

using model::OriginKind;
using model::Place;
using model::RowClass;
using model::RowDifference;
using ::testing::ElementsAre;

constexpr int kKey = 0;
constexpr int kIndexKey = 1;
constexpr int kGuard = 2;
constexpr std::int64_t kRows = 16;  ///< four pages of four slots
constexpr std::size_t kRowBytes = 32;

/// A row of 32 bytes that no other tag gives.
std::vector<std::byte> row_of(int tag) {
  return std::vector<std::byte>(kRowBytes, static_cast<std::byte>(tag));
}

/// A key cache, an index-key cache and a guard zone on the host device; three steps of two real
/// lanes and a pad lane. Lane l of step s writes row 4 × (l + 1) + s, with bytes of its own.
class RowSorting : public ::testing::Test {
 protected:
  using Written = std::map<std::pair<int, std::int64_t>, std::vector<std::byte>>;

  void SetUp() override {
    device_ = device::make_host_device({.memory_bytes = std::size_t{1} << 20});
    stream_ = device_->create_stream();
    memory_ = device::Buffer{*device_, 3 * kRows * kRowBytes};
    add_cache("layer 0 key", model::CacheKind::kKey);
    add_cache("layer 0 index-key", model::CacheKind::kIndexKey);
    add_cache("layer 0 kv cache, guard before", model::CacheKind::kGuard);
    for (int s = 0; s < 3; ++s) {
      model::StepFacts step;
      step.step = s;
      step.tokens = 2;
      step.bucket = 3;
      step.covered = true;
      for (int lane = 0; lane < 2; ++lane) {
        step.lanes.push_back({true, lane, 10 + s, row(s, lane), row(s, lane)});
      }
      step.lanes.emplace_back();
      steps_.push_back(std::move(step));
      Written written;
      for (const int cache : {kKey, kIndexKey}) {
        for (int lane = 0; lane < 2; ++lane) {
          written[{cache, row(s, lane)}] = eager_row(s, cache, lane);
        }
      }
      eager_.push_back(written);
      padded_.push_back(written);
      graph_.push_back(written);
    }
  }

  static std::int64_t row(int step, int lane) { return 4 * (lane + 1) + step; }
  static std::vector<std::byte> eager_row(int step, int cache, int lane) {
    return row_of(1 + step * 8 + cache * 4 + lane);
  }

  [[nodiscard]] SortedRows sort() {
    caches_ = std::make_unique<kvcache::CacheSet>(*device_, stream_.get(), views_);
    eager_log_ = log_of(eager_);
    padded_log_ = log_of(padded_);
    graph_log_ = log_of(graph_);
    SortingInput input;
    input.caches = caches_.get();
    input.steps = &steps_;
    input.eager = &eager_log_;
    input.padded_eager = with_padded_ ? &padded_log_ : nullptr;
    input.graph = &graph_log_;
    input.pattern = [](std::int64_t, std::size_t bytes, int) {
      return std::vector<std::byte>(bytes, std::byte{0xEE});
    };
    input.lane_rows = lane_rows_;
    input.owner = owner_;
    input.max_rows = max_rows_;
    input.max_rows_with_bytes = max_rows_with_bytes_;
    return sort_rows(input);
  }
  /// Sorts, and expects one difference.
  [[nodiscard]] RowDifference sort_one() {
    const SortedRows sorted = sort();
    EXPECT_EQ(sorted.rows.size(), 1U);
    return sorted.rows.empty() ? RowDifference{} : sorted.rows.front();
  }

  std::unique_ptr<device::Device> device_;
  device::Stream stream_;
  device::Buffer memory_;
  std::vector<kvcache::CacheView> views_;
  std::vector<model::StepFacts> steps_;
  std::vector<Written> eager_;
  std::vector<Written> padded_;
  std::vector<Written> graph_;
  bool with_padded_ = true;
  std::size_t max_rows_ = 4096;
  std::size_t max_rows_with_bytes_ = 4096;
  std::map<std::pair<int, int>, std::vector<std::vector<std::byte>>> lane_rows_;
  std::function<std::optional<model::LogicalRow>(int, std::int64_t)> owner_;

 private:
  void add_cache(const char* name, model::CacheKind kind) {
    kvcache::CacheView view;
    view.layout.name = name;
    view.layout.kind = kind;
    view.layout.dtype = model::DType::kU8;
    view.layout.pages = 4;
    view.layout.page_size = 4;
    view.layout.heads = 1;
    view.layout.dim = kRowBytes;
    view.layout.page_stride = 4 * kRowBytes;
    view.layout.slot_stride = kRowBytes;
    view.layout.head_stride = kRowBytes;
    view.base = memory_.as<std::byte>() + views_.size() * kRows * kRowBytes;
    views_.push_back(std::move(view));
  }

  [[nodiscard]] ArmLog log_of(const std::vector<Written>& arm) const {
    ArmLog log;
    for (std::size_t s = 0; s < arm.size(); ++s) {
      StepLog step;
      step.step = static_cast<int>(s);
      step.expected = expected_rows(*caches_, steps_[s]);
      for (const auto& [place, bytes] : arm[s]) {
        step.changed.push_back(caches_->global_row(place.first, place.second));
        step.bytes.push_back(bytes);
        step.digests.push_back(kvcache::row_digest(bytes));
      }
      log.steps.push_back(std::move(step));
    }
    return log;
  }

  std::unique_ptr<kvcache::CacheSet> caches_;
  ArmLog eager_log_;
  ArmLog padded_log_;
  ArmLog graph_log_;
};

TEST_F(RowSorting, FindsNothingInEqualArmsAndCountsWhatItCompared) {
  const SortedRows sorted = sort();
  EXPECT_TRUE(sorted.rows.empty());
  EXPECT_EQ(sorted.compared, 3U * 2 * 2);
  EXPECT_EQ(sorted.writes.size(), 9U);
  EXPECT_THAT(sorted.writes[0].expected, ElementsAre(4, 8));
  EXPECT_THAT(sorted.writes[0].eager, ElementsAre(4, 8));
  EXPECT_THAT(sorted.writes[0].padded_eager, ElementsAre(4, 8));
  EXPECT_THAT(sorted.writes[0].graph, ElementsAre(4, 8));
  EXPECT_TRUE(sorted.writes[2].expected.empty());
}

TEST_F(RowSorting, ARowThatTheGraphDoesNotWriteIsMissingAndUntouched) {
  graph_[1].erase({kKey, row(1, 1)});
  const RowDifference found = sort_one();
  EXPECT_EQ(found.row_class, RowClass::kMissing);
  EXPECT_EQ(found.step, 1);
  EXPECT_EQ(found.cache, kKey);
  EXPECT_EQ(found.row, 9);
  EXPECT_EQ(found.lane, 1);
  EXPECT_EQ(found.origin.kind, OriginKind::kUntouched);
  EXPECT_EQ(found.owner, (model::LogicalRow{1, 11, 0, model::CacheKind::kKey}));
  EXPECT_EQ(found.eager_bytes, eager_row(1, kKey, 1));
  EXPECT_EQ(found.graph_bytes, row_of(0xEE));
  EXPECT_EQ(found.graph, kvcache::row_digest(row_of(0xEE)));
  EXPECT_FALSE(found.padded_eager_shows_it);
}

TEST_F(RowSorting, SaysWhenPaddedEagerMissesTheRowToo) {
  graph_[1].erase({kKey, row(1, 1)});
  padded_[1].erase({kKey, row(1, 1)});
  EXPECT_TRUE(sort_one().padded_eager_shows_it);
  with_padded_ = false;
  EXPECT_FALSE(sort_one().padded_eager_shows_it);
}

TEST_F(RowSorting, ARowThatNobodyMayWriteIsStrayAndAPadLanesByItsBytes) {
  graph_[0][{kIndexKey, 15}] = row_of(0x77);
  lane_rows_[{0, kIndexKey}] = {row_of(1), row_of(2), row_of(0x77)};
  const RowDifference found = sort_one();
  EXPECT_EQ(found.row_class, RowClass::kStray);
  EXPECT_EQ(found.row, 15);
  EXPECT_EQ(found.lane, -1);
  EXPECT_EQ(found.origin.kind, OriginKind::kPadLane);
  EXPECT_EQ(found.origin.lane, 2);
  EXPECT_THAT(found.places, ElementsAre(Place::kLastRow));
  EXPECT_FALSE(found.padded_eager_shows_it);
}

TEST_F(RowSorting, ARealLanesBytesAreNotAPadLanes) {
  graph_[0][{kIndexKey, 15}] = row_of(0x77);
  lane_rows_[{0, kIndexKey}] = {row_of(0x77), row_of(2), row_of(3)};
  EXPECT_EQ(sort_one().origin.kind, OriginKind::kUnknown);
}

TEST_F(RowSorting, SaysWhenPaddedEagerStraysToo) {
  graph_[0][{kIndexKey, 15}] = row_of(0x77);
  padded_[0][{kIndexKey, 15}] = row_of(0x77);
  EXPECT_TRUE(sort_one().padded_eager_shows_it);
}

TEST_F(RowSorting, PaddedEagerStraysTooWhicheverPadLaneWroteLast) {
  graph_[0][{kIndexKey, 15}] = row_of(0x77);
  padded_[0][{kIndexKey, 15}] = row_of(0x78);
  EXPECT_TRUE(sort_one().padded_eager_shows_it);
}

TEST_F(RowSorting, OtherBytesInAnExpectedRowAreAWrongValue) {
  graph_[2][{kKey, row(2, 0)}] = row_of(0x70);
  const RowDifference found = sort_one();
  EXPECT_EQ(found.row_class, RowClass::kWrongValue);
  EXPECT_EQ(found.origin.kind, OriginKind::kUnknown);
  EXPECT_EQ(found.value.elements, kRowBytes);
  EXPECT_NE(found.value.kind, model::ValueKind::kNone);
}

TEST_F(RowSorting, BytesOfAnotherLanesRowAreAMisplacedPair) {
  graph_[1][{kKey, row(1, 0)}] = eager_row(1, kKey, 1);
  const RowDifference found = sort_one();
  EXPECT_EQ(found.row_class, RowClass::kWrongValue);
  EXPECT_EQ(found.origin.kind, OriginKind::kOtherRow);
  EXPECT_EQ(found.origin.row, row(1, 1));
}

TEST_F(RowSorting, BytesOfAnEarlierStepAreStale) {
  graph_[2][{kKey, row(2, 1)}] = eager_row(0, kKey, 1);
  const RowDifference found = sort_one();
  EXPECT_EQ(found.origin.kind, OriginKind::kEarlierStep);
  EXPECT_EQ(found.origin.step, 0);
  EXPECT_EQ(found.origin.lane, 1);
}

TEST_F(RowSorting, BytesOfAnotherCacheAreNoOrigin) {
  graph_[1][{kKey, row(1, 0)}] = eager_row(1, kIndexKey, 0);
  EXPECT_EQ(sort_one().origin.kind, OriginKind::kUnknown);
}

TEST_F(RowSorting, SaysAllOriginsThatFit) {
  eager_[0][{kKey, row(0, 0)}] = row_of(0x55);
  graph_[0][{kKey, row(0, 0)}] = row_of(0x55);
  eager_[1][{kKey, row(1, 1)}] = row_of(0x55);
  graph_[1][{kKey, row(1, 1)}] = row_of(0x55);
  graph_[1][{kKey, row(1, 0)}] = row_of(0x55);
  const RowDifference found = sort_one();
  EXPECT_EQ(found.origin.kind, OriginKind::kOtherRow);
  EXPECT_THAT(found.origin.also, ElementsAre("row 4 of step 0"));
}

TEST_F(RowSorting, EagerItselfOutsideTheMappingIsAnEagerStray) {
  eager_[0][{kKey, 14}] = row_of(0x60);
  EXPECT_EQ(sort_one().row_class, RowClass::kEagerStray);
  graph_[0][{kKey, 14}] = row_of(0x60);
  EXPECT_EQ(sort_one().row_class, RowClass::kEagerStray);
  graph_[0][{kKey, 14}] = row_of(0x61);
  EXPECT_EQ(sort_one().row_class, RowClass::kEagerStray);
}

TEST_F(RowSorting, AMappedRowThatEagerLeavesOutIsEagerMissing) {
  eager_[0].erase({kKey, row(0, 0)});
  EXPECT_EQ(sort_one().row_class, RowClass::kEagerMissing);
  graph_[0].erase({kKey, row(0, 0)});
  const RowDifference found = sort_one();
  EXPECT_EQ(found.row_class, RowClass::kEagerMissing);
  EXPECT_EQ(found.origin.kind, OriginKind::kUntouched);
}

TEST_F(RowSorting, AWriteIntoASinkIsCountedAndNoDifference) {
  views_[kKey].layout.sinks = {{0, 4}};
  graph_[0][{kKey, 2}] = row_of(0x60);
  graph_[1][{kKey, 3}] = row_of(0x60);
  const SortedRows sorted = sort();
  EXPECT_TRUE(sorted.rows.empty());
  EXPECT_EQ(sorted.sink_writes, 2U);
  EXPECT_EQ(sorted.writes[0].sink_writes, 1U);
}

TEST_F(RowSorting, AWriteIntoAGuardZoneIsStrayThere) {
  graph_[0][{kGuard, 15}] = row_of(0x60);
  owner_ = [](int, std::int64_t) { return model::LogicalRow{0, 1, 0, model::CacheKind::kKey}; };
  const RowDifference found = sort_one();
  EXPECT_EQ(found.row_class, RowClass::kStray);
  EXPECT_EQ(found.cache, kGuard);
  EXPECT_THAT(found.places, ElementsAre(Place::kGuardZone));
}

TEST_F(RowSorting, NamesTheNullPage) {
  graph_[0][{kKey, 1}] = row_of(0x60);
  EXPECT_THAT(sort_one().places, ElementsAre(Place::kNullPage));
}

TEST_F(RowSorting, NamesALiveSequencesRow) {
  graph_[0][{kKey, 13}] = row_of(0x60);
  EXPECT_THAT(sort_one().places, ElementsAre(Place::kOrdinary));
  const model::LogicalRow token{1, 3, 0, model::CacheKind::kKey};
  owner_ = [&](int, std::int64_t) { return token; };
  const RowDifference found = sort_one();
  EXPECT_THAT(found.places, ElementsAre(Place::kLiveRow));
  EXPECT_EQ(found.owner, token);
}

TEST_F(RowSorting, ARowOfATokenThatComesLaterIsNotLiveYet) {
  graph_[0][{kKey, row(2, 0)}] = row_of(0x60);
  owner_ = [](int, std::int64_t) { return model::LogicalRow{0, 12, 0, model::CacheKind::kKey}; };
  EXPECT_THAT(sort_one().places, ElementsAre(Place::kOrdinary));
}

TEST_F(RowSorting, NamesARowThatAnEarlierStepWrote) {
  graph_[2][{kKey, row(0, 0)}] = row_of(0x60);
  owner_ = [](int, std::int64_t) { return model::LogicalRow{0, 10, 0, model::CacheKind::kKey}; };
  EXPECT_THAT(sort_one().places, ElementsAre(Place::kEarlierBatch, Place::kLiveRow));
}

TEST_F(RowSorting, LeavesOutStepsThatNoGraphCovers) {
  steps_[1].covered = false;
  graph_[1].erase({kKey, row(1, 0)});
  const SortedRows sorted = sort();
  EXPECT_TRUE(sorted.rows.empty());
  EXPECT_EQ(sorted.compared, 2U * 2 * 2);
}

TEST_F(RowSorting, CountsWhatItDoesNotList) {
  max_rows_ = 3;
  for (int step = 0; step < 3; ++step) {
    graph_[static_cast<std::size_t>(step)].erase({kKey, row(step, 0)});
    graph_[static_cast<std::size_t>(step)].erase({kKey, row(step, 1)});
  }
  const SortedRows sorted = sort();
  EXPECT_EQ(sorted.rows.size(), 3U);
  EXPECT_EQ(sorted.dropped, 3U);
}

TEST_F(RowSorting, ListsRowsWhoseBytesItDoesNotKeep) {
  max_rows_with_bytes_ = 1;
  graph_[0].erase({kKey, row(0, 0)});
  graph_[0].erase({kKey, row(0, 1)});
  const SortedRows sorted = sort();
  ASSERT_EQ(sorted.rows.size(), 2U);
  EXPECT_FALSE(sorted.rows[0].eager_bytes.empty());
  EXPECT_TRUE(sorted.rows[1].eager_bytes.empty());
  EXPECT_EQ(sorted.rows[1].row_class, RowClass::kMissing);
  EXPECT_EQ(sorted.rows[1].origin.kind, OriginKind::kUntouched);
  EXPECT_EQ(sorted.dropped, 0U);
}

TEST_F(RowSorting, OrdersByStepCacheAndRow) {
  graph_[1].erase({kIndexKey, row(1, 0)});
  graph_[1].erase({kKey, row(1, 1)});
  graph_[1].erase({kKey, row(1, 0)});
  graph_[0].erase({kIndexKey, row(0, 1)});
  std::vector<std::vector<std::int64_t>> order;
  for (const RowDifference& row : sort().rows) order.push_back({row.step, row.cache, row.row});
  EXPECT_EQ(order, (std::vector<std::vector<std::int64_t>>{
                       {0, kIndexKey, 8}, {1, kKey, 5}, {1, kKey, 9}, {1, kIndexKey, 5}}));
}

TEST_F(RowSorting, ExpectsIndexKeyRowsByTheirOwnSlots) {
  steps_[0].lanes[0].index_slot = 12;
  graph_[0].erase({kIndexKey, row(0, 0)});
  eager_[0].erase({kIndexKey, row(0, 0)});
  const auto bytes = row_of(0x42);
  eager_[0][{kIndexKey, 12}] = bytes;
  graph_[0][{kIndexKey, 12}] = bytes;
  const SortedRows sorted = sort();
  EXPECT_TRUE(sorted.rows.empty());
  EXPECT_THAT(sorted.writes[kIndexKey].expected, ElementsAre(8, 12));
  EXPECT_THAT(sorted.writes[kKey].expected, ElementsAre(4, 8));
}

}  // namespace
}  // namespace graphsan::run
