#include "trace/longest_match.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphsan::trace {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Fit equal_letters(const std::string& left, const std::string& right) {
  return [&left, &right](std::size_t i, std::size_t j) { return left[i] == right[j] ? 2 : 0; };
}

/// Weight of the best match, tried out in all ways.
int exhaustive(std::size_t i, std::size_t j, std::size_t left, std::size_t right, const Fit& fit) {
  if (i == left || j == right) return 0;
  const int weight = fit(i, j);
  const int paired = weight == 0 ? 0 : weight + exhaustive(i + 1, j + 1, left, right, fit);
  return std::max(
      {paired, exhaustive(i + 1, j, left, right, fit), exhaustive(i, j + 1, left, right, fit)});
}

int weight_of(const Pairs& pairs, const Fit& fit) {
  int weight = 0;
  for (const auto& [i, j] : pairs) weight += fit(i, j);
  return weight;
}

TEST(LongestMatch, PairsEqualSequencesElementByElement) {
  const std::string text = "abc";
  EXPECT_EQ(longest_match(3, 3, equal_letters(text, text)), (Pairs{{0, 0}, {1, 1}, {2, 2}}));
}

TEST(LongestMatch, StepsOverWhatOnlyOneSideHas) {
  const std::string left = "abcd";
  const std::string right = "axcyd";
  EXPECT_EQ(longest_match(4, 5, equal_letters(left, right)), (Pairs{{0, 0}, {2, 2}, {3, 4}}));
}

TEST(LongestMatch, IsEmptyWhereOneSideIs) {
  const std::string text = "abc";
  EXPECT_TRUE(longest_match(0, 3, equal_letters(text, text)).empty());
  EXPECT_TRUE(longest_match(3, 0, equal_letters(text, text)).empty());
}

TEST(LongestMatch, PrefersTheBetterFit) {
  const auto fit = [](std::size_t, std::size_t right) { return right == 1 ? 2 : 1; };
  EXPECT_EQ(longest_match(1, 3, fit), (Pairs{{0, 1}}));
}

TEST(LongestMatch, IsAsHeavyAsTheBestOfAllMatchesAndIncreases) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 200; ++round) {
    const std::size_t left = random() % 7;
    const std::size_t right = random() % 7;
    std::vector<int> weights(left * right);
    for (int& weight : weights) weight = static_cast<int>(random() % 3);
    const auto fit = [&](std::size_t i, std::size_t j) { return weights[i * right + j]; };
    const Pairs pairs = longest_match(left, right, fit);
    EXPECT_EQ(weight_of(pairs, fit), exhaustive(0, 0, left, right, fit)) << "round " << round;
    for (std::size_t i = 1; i < pairs.size(); ++i) {
      EXPECT_LT(pairs[i - 1].first, pairs[i].first);
      EXPECT_LT(pairs[i - 1].second, pairs[i].second);
    }
  }
}

}  // namespace
}  // namespace graphsan::trace
