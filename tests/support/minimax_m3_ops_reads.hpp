#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/minimax_m3_scene.hpp"

// What indexer, selection and attention must do on every device.
namespace graphsan::test {

class MiniMaxM3Reads : public OpTest {
 protected:
  using Lanes = std::vector<SceneLane>;
  static constexpr int kHeadDim = step::minimax_m3::kHeadDim;

  static std::vector<std::int32_t> first_positions(std::int32_t count) {
    std::vector<std::int32_t> positions(static_cast<std::size_t>(count));
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }

  /// Compares one lane's output rows with sums in double over `positions`; none of them: zeros.
  static void expect_exact(const Scene& scene, const Lanes& lanes, std::size_t lane,
                           const std::vector<std::uint16_t>& out,
                           const std::vector<std::int32_t>& positions) {
    const std::int32_t heads = scene.shape().q_heads;
    for (std::int32_t head = 0; head < heads; ++head) {
      const std::uint16_t* row =
          &out[(lane * static_cast<std::size_t>(heads) + static_cast<std::size_t>(head)) *
               kHeadDim];
      if (positions.empty()) {
        EXPECT_TRUE(std::all_of(row, row + kHeadDim, [](std::uint16_t bits) { return bits == 0; }));
        continue;
      }
      const std::vector<double> expected = scene.exact(lanes[lane], head, positions);
      for (int d = 0; d < kHeadDim; ++d) {
        ASSERT_NEAR(step::minimax_m3::bf16_to_float(row[d]), expected[d],
                    1e-5 + 4.2e-3 * std::abs(expected[d]))  // bf16 rounds by up to 2^-8
            << "lane " << lane << ", head " << head << ", element " << d;
      }
    }
  }

  void check_dense(const SceneShape& shape) {
    SCOPED_TRACE("q " + std::to_string(shape.q_heads) + " kv " + std::to_string(shape.kv_heads) +
                 " page " + std::to_string(shape.page_size) + " dtype " +
                 std::to_string(static_cast<int>(shape.dtype)) + " arrangement " +
                 std::to_string(static_cast<int>(shape.arrangement)));
    const Lanes lanes{{0, 77, 0}, {0, 0, 1}, {1, 1, 2}, {0, 210, 3}, {0, 211, 4}};
    Scene scene{arena(), shape, lanes};
    const std::vector<std::uint16_t> out = scene.attend(false);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      expect_exact(scene, lanes, lane, out, first_positions(lanes[lane].length));
    }
  }

  /// Bits of one lane of a per-lane result laid out [rows, lanes, width].
  template <typename T>
  static std::vector<T> lane_of(const std::vector<T>& all, std::size_t lanes, std::size_t lane,
                                std::size_t width) {
    std::vector<T> result;
    for (std::size_t start = lane * width; start < all.size(); start += lanes * width) {
      result.insert(result.end(), all.begin() + static_cast<std::ptrdiff_t>(start),
                    all.begin() + static_cast<std::ptrdiff_t>(start + width));
    }
    return result;
  }

  struct LaneResults {
    std::vector<std::uint32_t> scores;
    std::vector<std::int32_t> selection;
    std::vector<std::uint16_t> sparse;
    std::vector<std::uint16_t> dense;
    bool operator==(const LaneResults&) const = default;
  };

  /// What each lane of a batch gets, scores of visible blocks only.
  std::vector<LaneResults> run_batch(const SceneShape& shape, const Lanes& lanes) {
    Scene scene{arena(), shape, lanes};
    const std::vector<float> scores = scene.scores();
    const std::vector<std::int32_t> selection = scene.select();
    const std::vector<std::uint16_t> sparse = scene.attend(true);
    const std::vector<std::uint16_t> dense = scene.attend(false);
    const auto width = static_cast<std::size_t>(shape.q_heads * kHeadDim);
    const auto blocks = static_cast<std::size_t>(scene.blocks());
    std::vector<LaneResults> results;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      LaneResults& result = results.emplace_back();
      for (const float score : lane_of(scores, lanes.size(), lane, blocks)) {
        result.scores.push_back(std::bit_cast<std::uint32_t>(score));
      }
      result.selection = lane_of(selection, lanes.size(), lane, static_cast<std::size_t>(shape.k));
      result.sparse = lane_of(sparse, lanes.size(), lane, width);
      result.dense = lane_of(dense, lanes.size(), lane, width);
    }
    return results;
  }

  static Lanes many_lanes() {
    Lanes lanes;
    for (std::int32_t i = 0; i < 37; ++i) lanes.push_back({0, 600 + i, i});
    for (std::int32_t i = 0; i < 5; ++i) lanes.push_back({1, 1000 - 97 * i, 50 + i});
    return lanes;
  }
};

TEST_P(MiniMaxM3Reads, DenseAttentionIsExactForEveryCacheLayout) {
  for (const auto dtype : {model::DType::kBf16, model::DType::kFp8E4M3, model::DType::kFp8E5M2}) {
    for (const auto arrangement :
         {KvArrangement::kNhd, KvArrangement::kHnd, KvArrangement::kInterleaved}) {
      for (const std::int32_t page_size : {16, 32, 64, 128}) {
        check_dense({.q_heads = 4,
                     .kv_heads = 2,
                     .page_size = page_size,
                     .arrangement = arrangement,
                     .dtype = dtype,
                     .context = 256});
      }
    }
  }
}

TEST_P(MiniMaxM3Reads, DenseAttentionIsExactForEveryTensorParallelShape) {
  for (const auto& [q, kv] : std::vector<std::pair<std::int32_t, std::int32_t>>{
           {64, 4}, {32, 2}, {16, 1}, {8, 1}, {4, 1}, {2, 1}, {1, 1}, {3, 1}, {40, 1}}) {
    check_dense({.q_heads = q, .kv_heads = kv, .context = 256});
  }
}

TEST_P(MiniMaxM3Reads, ScalesMultiplyLogitsAndValues) {
  check_dense({.q_heads = 4,
               .dtype = model::DType::kFp8E4M3,
               .context = 256,
               .k_scale = 0.5F,
               .v_scale = 0.37F});
}

TEST_P(MiniMaxM3Reads, SparseAttentionReadsTheSelectedVisibleBlocksOnly) {
  const SceneShape shape{.q_heads = 4, .kv_heads = 2, .page_size = 64, .context = 512, .k = 4};
  const Lanes lanes{{0, 500, 0}, {0, 130, 1}, {1, 400, 2}, {1, 0, 3}};
  Scene scene{arena(), shape, lanes};
  // [kv head][lane][k]: out of order, -1 in front, ids that the lane cannot see, an empty row.
  scene.set_selection({3, 0, -1, -1, /**/ 1, 0, 3, 2, /**/ -1, 2,  -1, 3, /**/ -1, -1, -1, -1,
                       1, 2, 3,  0,  /**/ 3, 2, 3, 2, /**/ 0,  -1, 1,  2, /**/ 0,  1,  2,  3});
  const std::vector<std::vector<std::vector<std::int32_t>>> blocks{
      {{3, 0}, {1, 0}, {2, 3}, {}}, {{1, 2, 3, 0}, {}, {0, 1, 2}, {}}};
  const std::vector<std::uint16_t> out = scene.attend(true);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::int32_t head = 0; head < shape.q_heads; ++head) {
      std::vector<std::int32_t> positions;
      for (const std::int32_t block : blocks[static_cast<std::size_t>(head / 2)][lane]) {
        for (std::int32_t p = block * 128; p < std::min(lanes[lane].length, block * 128 + 128);
             ++p) {
          positions.push_back(p);
        }
      }
      const std::uint16_t* row = &out[(lane * 4 + static_cast<std::size_t>(head)) * kHeadDim];
      const std::vector<double> expected = positions.empty()
                                               ? std::vector<double>(kHeadDim)
                                               : scene.exact(lanes[lane], head, positions);
      for (int d = 0; d < kHeadDim; ++d) {
        ASSERT_NEAR(step::minimax_m3::bf16_to_float(row[d]), expected[d],
                    1e-5 + 4.2e-3 * std::abs(expected[d]))
            << "lane " << lane << ", head " << head;
      }
    }
  }
}

TEST_P(MiniMaxM3Reads, ScoresAreTheLargestDotProductOfEachVisibleBlock) {
  const SceneShape shape{.q_heads = 4, .kv_heads = 4, .page_size = 32, .context = 512};
  const Lanes lanes{{0, 500, 0}, {1, 128, 1}, {1, 129, 2}, {0, 0, 3}, {1, 1, 4}};
  Scene scene{arena(), shape, lanes};
  const std::vector<float> scores = scene.scores();
  for (std::int32_t head = 0; head < 4; ++head) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      for (std::int32_t block = 0; block < 4; ++block) {
        const float score = scores[(static_cast<std::size_t>(head) * lanes.size() + lane) * 4 +
                                   static_cast<std::size_t>(block)];
        double expected = -INFINITY;
        for (std::int32_t p = block * 128; p < std::min(lanes[lane].length, block * 128 + 128);
             ++p) {
          double dot = 0;
          for (int d = 0; d < kHeadDim; ++d) {
            dot += static_cast<double>(Scene::query(4, lanes[lane], head, d)) *
                   scene.element(2, lanes[lane].sequence, p, 0, d);
          }
          expected = std::max(expected, dot);
        }
        if (std::isinf(expected)) {
          EXPECT_EQ(std::bit_cast<std::uint32_t>(score), 0xFFFFFFFFU) << "not left alone";
        } else {
          EXPECT_NEAR(score, expected, 1e-4);
        }
      }
    }
  }
}

TEST_P(MiniMaxM3Reads, ALaneGetsTheSameBitsAloneAndInAnyBatch) {
  for (const auto dtype : {model::DType::kBf16, model::DType::kFp8E5M2}) {
    const SceneShape shape{.q_heads = 16, .kv_heads = 2, .page_size = 64, .dtype = dtype};
    const Lanes lanes = many_lanes();
    const std::vector<LaneResults> together = run_batch(shape, lanes);
    for (const std::size_t lane : {0U, 1U, 15U, 16U, 36U, 37U, 41U}) {
      EXPECT_EQ(run_batch(shape, {lanes[lane]})[0], together[lane]) << "alone: lane " << lane;
      const Lanes padded{{0, 0, 90}, lanes[41], lanes[lane], {0, 0, 91}, {0, 0, 92}};
      EXPECT_EQ(run_batch(shape, padded)[2], together[lane]) << "padded: lane " << lane;
    }
  }
}

TEST_P(MiniMaxM3Reads, WhereTheRowsLieDoesNotMatter) {
  const SceneShape shape{.kv_heads = 2, .dtype = model::DType::kFp8E4M3};
  const Lanes lanes{{0, 1000, 0}, {1, 700, 1}, {1, 701, 2}};
  const std::vector<LaneResults> plain = run_batch(shape, lanes);
  for (const auto arrangement : {KvArrangement::kHnd, KvArrangement::kInterleaved}) {
    for (const std::int32_t page_size : {16, 32, 64, 128}) {
      SceneShape other = shape;
      other.arrangement = arrangement;
      other.page_size = page_size;
      other.page_order = 9;
      EXPECT_EQ(run_batch(other, lanes), plain) << "page size " << page_size;
    }
  }
}

TEST_P(MiniMaxM3Reads, ScratchForLongContextsChangesNoBit) {
  const SceneShape shape{.q_heads = 20, .context = 6144};
  const Lanes lanes{{0, 5000, 0}, {0, 2048, 1}, {1, 2049, 2}, {1, 1, 3}, {0, 0, 4}, {0, 6144, 5}};
  Scene scene{arena(), shape, lanes};
  const std::int64_t floats = step::minimax_m3::attention_scratch_floats(
      scene.tokens(), shape.q_heads, scene.table_stride(), shape.page_size);
  EXPECT_EQ(floats, 6 * 20 * 3 * 130);
  const auto plain = scene.attend(false);
  EXPECT_EQ(scene.attend(false, arena().make<float>(static_cast<std::size_t>(floats))), plain);
  expect_exact(scene, lanes, 2, plain, first_positions(2049));
}

}  // namespace graphsan::test
