#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "step/minimax_m3/ops.hpp"
#include "tests/support/device_arena.hpp"

namespace graphsan::test {

class MiniMaxM3Selection : public OpTest {
 protected:
  struct Rules {
    std::int32_t k = 4;
    std::int32_t init_blocks = 0;
    std::int32_t local_blocks = 1;
  };

  /// Selection of each [head][lane] row of `scores`, [heads, lanes, blocks].
  std::vector<std::int32_t> select(const std::vector<float>& scores, std::int32_t heads,
                                   std::int32_t blocks, const std::vector<std::int32_t>& seq_lens,
                                   const Rules& rules) {
    const auto lanes = static_cast<std::int32_t>(seq_lens.size());
    const std::int32_t stride = lanes + 3;
    const auto count = static_cast<std::size_t>(heads * stride * rules.k);
    auto* ids = arena().make<std::int32_t>(count);
    step::minimax_m3::launch_indexer_top_k(
        device(), stream(),
        {arena().upload(scores), ids, arena().upload(seq_lens), lanes, stride, heads, blocks,
         rules.k, rules.init_blocks, rules.local_blocks});
    const auto padded = arena().download(ids, count);
    std::vector<std::int32_t> result;
    for (std::int32_t head = 0; head < heads; ++head) {
      const auto row = padded.begin() + head * stride * rules.k;
      result.insert(result.end(), row, row + lanes * rules.k);
    }
    return result;
  }

  /// The rule as the documentation words it, by sorting.
  static std::vector<std::int32_t> sorted_selection(std::vector<float> scores, std::int32_t visible,
                                                    const Rules& rules) {
    for (std::int32_t b = 0; b < visible; ++b) {
      float& score = scores[static_cast<std::size_t>(b)];
      if (std::isnan(score)) score = -1e30F;
      if (b < rules.init_blocks) score = 1e30F;
      if (b >= visible - rules.local_blocks) score = 1e29F;
    }
    std::vector<std::int32_t> ids(static_cast<std::size_t>(visible));
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    ids.resize(static_cast<std::size_t>(std::min(visible, rules.k)));
    std::sort(ids.begin(), ids.end());
    ids.resize(static_cast<std::size_t>(rules.k), -1);
    return ids;
  }

  void check_random(const Rules& rules) {
    constexpr std::int32_t kHeads = 2;
    constexpr std::int32_t kBlocks = 70;
    const std::vector<std::int32_t> seq_lens{0, 1, 128, 129, 3000, 8960, -5, 8833, 512};
    std::mt19937 random{7};
    std::vector<float> scores;
    for (std::size_t i = 0; i < kHeads * seq_lens.size() * kBlocks; ++i) {
      const std::uint32_t word = random();
      scores.push_back(static_cast<float>(word % 9) - 4.0F);  // many ties
      if (word % 11 == 0) scores.back() = std::numeric_limits<float>::quiet_NaN();
      if (word % 13 == 0) scores.back() = -std::numeric_limits<float>::infinity();
      if (word % 17 == 0) scores.back() = -0.0F;
    }
    const auto ids = select(scores, kHeads, kBlocks, seq_lens, rules);
    for (std::size_t row = 0; row < kHeads * seq_lens.size(); ++row) {
      const std::int32_t length = seq_lens[row % seq_lens.size()];
      const std::int32_t visible = length <= 0 ? 0 : (length - 1) / 128 + 1;
      const auto first = scores.begin() + static_cast<std::ptrdiff_t>(row * kBlocks);
      const auto expected = sorted_selection({first, first + kBlocks}, visible, rules);
      const auto actual = ids.begin() + static_cast<std::ptrdiff_t>(row) * rules.k;
      EXPECT_EQ(std::vector<std::int32_t>(actual, actual + rules.k), expected) << "row " << row;
    }
  }
};

TEST_P(MiniMaxM3Selection, FollowsTheRuleForTiesNanAndForcedBlocks) {
  for (const std::int32_t k : {1, 4, 16, 100}) {
    check_random({.k = k});
    check_random({.k = k, .init_blocks = 2, .local_blocks = 1});
    check_random({.k = k, .init_blocks = 1, .local_blocks = 3});
    check_random({.k = k, .init_blocks = 0, .local_blocks = 0});
  }
}

TEST_P(MiniMaxM3Selection, LastVisibleBlockIsChosenWhateverItsScore) {
  std::vector<float> scores(64, 5.0F);
  scores[40] = -1e20F;
  const auto ids = select(scores, 1, 64, {40 * 128 + 1}, {.k = 2});
  EXPECT_EQ(ids, (std::vector<std::int32_t>{0, 40}));
}

TEST_P(MiniMaxM3Selection, WorksOverALongContext) {
  constexpr std::int32_t kBlocks = 8192;  // a million tokens
  std::vector<float> scores(kBlocks);
  std::mt19937 random{3};
  for (float& score : scores) score = static_cast<float>(random() % 100'000);
  const Rules rules{.k = 16};
  EXPECT_EQ(select(scores, 1, kBlocks, {kBlocks * 128}, rules),
            sorted_selection(scores, kBlocks, rules));
}

}  // namespace graphsan::test
