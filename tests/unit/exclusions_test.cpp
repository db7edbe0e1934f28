#include "diagnose/exclusions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/facts_scene.hpp"

namespace graphsan::diagnose {
namespace {

using ::testing::HasSubstr;

/// Why a suspect was cleared, or nothing.
std::optional<std::string> cleared(const model::Facts& facts, const std::string& suspect) {
  for (const model::RuledOut& out : rule_out_suspects(facts)) {
    if (out.mechanism == suspect) return out.why;
  }
  return std::nullopt;
}

model::Facts missing_index_key() {
  model::Facts facts = test::facts_scene();
  for (int step = 0; step < 3; ++step) test::lose_rows(facts, step, test::kIndexKey0);
  return facts;
}

TEST(Exclusions, PrecisionMovesNoWrite) {
  const auto why = cleared(missing_index_key(), "numeric-noise");
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(*why, HasSubstr("9 of 9 missing rows still hold the bytes from before the step"));
  EXPECT_THAT(*why, HasSubstr("of 18 rows that both arms wrote 18 are equal byte for byte"));
  model::Facts stray = test::facts_scene();
  test::stray_row(stray, 0, test::kIndexKey0);
  EXPECT_THAT(cleared(stray, "numeric-noise").value_or(""),
              HasSubstr("1 rows changed that no lane may write"));
}

TEST(Exclusions, PrecisionStaysASuspectWhereAValueIsWrong) {
  model::Facts facts = missing_index_key();
  test::lose_row(facts, 0, test::kKey0, 0);
  facts.rows.back().row_class = model::RowClass::kWrongValue;
  EXPECT_FALSE(cleared(facts, "numeric-noise").has_value());
  EXPECT_FALSE(cleared(test::facts_scene(), "numeric-noise").has_value());
}

TEST(Exclusions, FreedMemoryIsClearedByOwnersOfAllAddresses) {
  model::Facts facts = missing_index_key();
  facts.segments[0].nodes[1].addresses.push_back(
      {"+16", 16, 0x2000, model::OwnerKind::kGraphPool, "graph pool"});
  EXPECT_THAT(cleared(facts, "freed-memory").value_or(""),
              HasSubstr("belong to live memory: 2 to named "
                        "buffers, 1 to a graph pool"));
}

TEST(Exclusions, FreedMemoryStaysASuspectWhereAnAddressHasNoLiveOwner) {
  for (const auto owner : {model::OwnerKind::kFreeBlock, model::OwnerKind::kOtherAllocation,
                           model::OwnerKind::kHostPageable, model::OwnerKind::kUnknown}) {
    model::Facts facts = missing_index_key();
    facts.segments[0].nodes[1].addresses[0].owner = owner;
    EXPECT_FALSE(cleared(facts, "freed-memory").has_value()) << model::to_string(owner);
  }
  model::Facts untraced = missing_index_key();
  untraced.segments.clear();
  EXPECT_FALSE(cleared(untraced, "freed-memory").has_value());
}

TEST(Exclusions, AMovedBufferIsClearedByEqualAddresses) {
  model::Facts facts = missing_index_key();
  EXPECT_FALSE(cleared(facts, "moved-buffer").has_value());
  facts.inputs = {{"positions", 0x10, 0x10, true}, {"slot mapping", 0x20, 0x20, true}};
  EXPECT_TRUE(cleared(facts, "moved-buffer").has_value());
  facts.inputs[1].replay_address = 0x30;
  EXPECT_FALSE(cleared(facts, "moved-buffer").has_value());
}

TEST(Exclusions, StaleContentsAreClearedByEagersBytes) {
  model::Facts facts = missing_index_key();
  EXPECT_FALSE(cleared(facts, "stale-contents").has_value());
  facts.inputs = {{"positions", 0x10, 0x10, true}, {"slot mapping", 0x20, 0x20, true}};
  EXPECT_TRUE(cleared(facts, "stale-contents").has_value());
  facts.inputs[0].contents_equal_eager = false;
  EXPECT_FALSE(cleared(facts, "stale-contents").has_value());
}

TEST(Exclusions, TiesAreClearedByTheMarginOfEagersScores) {
  model::Facts facts = missing_index_key();
  EXPECT_FALSE(cleared(facts, "topk-tie").has_value());
  facts.top_k.resize(2);
  facts.top_k[0].margin = 30;
  facts.top_k[1].margin = 4.5F;
  EXPECT_THAT(cleared(facts, "topk-tie").value_or(""),
              HasSubstr("in each of 2 differing selections eager's scores are apart, by 4.5 at"));
  facts.top_k[1].kind = model::TopKKind::kTie;
  EXPECT_FALSE(cleared(facts, "topk-tie").has_value());
}

}  // namespace
}  // namespace graphsan::diagnose
