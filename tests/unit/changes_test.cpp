#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "diagnose/experiments.hpp"

namespace graphsan::diagnose {
namespace {

constexpr auto kLast = static_cast<std::uint8_t>(Change::kDrawAgain);

std::vector<Change> all_changes() {
  std::vector<Change> changes;
  for (int i = 0; i <= kLast; ++i) changes.push_back(static_cast<Change>(i));
  return changes;
}

TEST(Changes, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Change change : all_changes()) {
    EXPECT_FALSE(name_of(change).empty()) << static_cast<int>(change);
    EXPECT_TRUE(names.insert(name_of(change)).second) << name_of(change);
  }
}

TEST(Changes, EachHasAShamThatIsNotItself) {
  for (const Change change : all_changes()) {
    EXPECT_FALSE(sham_name_of(change).empty()) << name_of(change);
    EXPECT_NE(sham_name_of(change), name_of(change));
  }
}

TEST(Changes, TheLastHereIsTheLastThereIs) {
  static_assert(std::is_same_v<std::underlying_type_t<Change>, std::uint8_t>);
  const auto beyond = static_cast<Change>(kLast + 1);
  EXPECT_THROW(static_cast<void>(name_of(beyond)), std::logic_error);
  EXPECT_THROW(static_cast<void>(sham_name_of(beyond)), std::logic_error);
  EXPECT_THROW(static_cast<void>(counts_changes(beyond)), std::logic_error);
}

TEST(Changes, ThoseWhoseEffectIsADifferenceThatMovesCountChanges) {
  std::set<Change> counting;
  for (const Change change : all_changes()) {
    if (counts_changes(change)) counting.insert(change);
  }
  EXPECT_EQ(counting,
            (std::set{Change::kPoisonPadLanes, Change::kPoisonFreed, Change::kPoisonGraphPool,
                      Change::kDrawAgain, Change::kTryScalars}));
}

}  // namespace
}  // namespace graphsan::diagnose
