#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "model/event.hpp"
#include "model/run_report.hpp"

namespace graphsan::model {
namespace {

/// The words of an enum numbered from 0, found without knowing its last enumerator: to_string()
/// throws behind it.
template <typename Enum, typename Parse>
std::set<std::string> words_read_back(Parse parse) {
  std::set<std::string> words;
  for (int value = 0; value < 256; ++value) {
    std::string word;
    try {
      word = to_string(static_cast<Enum>(value));
    } catch (const std::logic_error&) {
      break;
    }
    EXPECT_EQ(parse(word), static_cast<Enum>(value)) << word;
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_"), std::string::npos)
        << word;
    EXPECT_TRUE(words.insert(word).second) << word << " names two enumerators";
  }
  EXPECT_FALSE(parse("no-such-word").has_value());
  EXPECT_FALSE(parse("").has_value());
  return words;
}

using Words = std::set<std::string>;

TEST(EnumWords, OfRowsReadBack) {
  EXPECT_EQ(words_read_back<RowClass>(parse_row_class),
            (Words{"missing", "stray", "wrong-value", "eager-stray", "eager-missing"}));
  EXPECT_EQ(words_read_back<OriginKind>(parse_origin_kind),
            (Words{"unknown", "untouched", "this-row", "other-row", "earlier-step", "pad-lane"}));
  EXPECT_EQ(
      words_read_back<ValueKind>(parse_value_kind),
      (Words{"none", "constant-ratio", "rounding", "non-finite", "arbitrary", "other-dtype"}));
  EXPECT_EQ(
      words_read_back<Place>(parse_place),
      (Words{"ordinary", "last-row", "null-page", "live-row", "earlier-batch", "guard-zone"}));
}

TEST(EnumWords, OfConsequencesReadBack) {
  EXPECT_EQ(
      words_read_back<TopKKind>(parse_topk_kind),
      (Words{"out-of-range", "duplicate", "trivial", "other-lane", "earlier", "tie", "mismatch"}));
  EXPECT_EQ(words_read_back<ChainStage>(parse_chain_stage),
            (Words{"index-key-write", "key-value-write", "score", "top-k", "blocks-read", "output",
                   "next-layer"}));
}

TEST(EnumWords, OfCachesReadBack) {
  EXPECT_EQ(words_read_back<DType>(parse_dtype),
            (Words{"bf16", "fp8_e4m3", "fp8_e5m2", "f32", "i32", "i64", "u8"}));
  EXPECT_EQ(words_read_back<CacheKind>(parse_cache_kind),
            (Words{"key", "value", "index-key", "scale", "top-k", "output", "guard", "other"}));
}

TEST(EnumWords, OfGraphsReadBack) {
  EXPECT_EQ(words_read_back<NodeType>(parse_node_type),
            (Words{"kernel", "memcpy", "memset", "host", "empty", "event", "child-graph",
                   "allocation", "conditional", "other"}));
  EXPECT_EQ(words_read_back<OwnerKind>(parse_owner_kind),
            (Words{"named-buffer", "graph-pool", "free-block", "other-allocation", "host-pageable",
                   "host-pinned", "unknown"}));
  EXPECT_EQ(words_read_back<AlignmentKind>(parse_alignment_kind),
            (Words{"matched", "missing", "extra", "other-grid", "other-arguments"}));
}

TEST(EnumWords, OfRunsReadBack) {
  EXPECT_EQ(words_read_back<Verdict>(parse_verdict),
            (Words{"agreed", "diverged", "hazard", "inconclusive"}));
  EXPECT_EQ(words_read_back<FindingStatus>(parse_finding_status),
            (Words{"confirmed", "suspected"}));
  EXPECT_EQ(words_read_back<Arm>(parse_arm),
            (Words{"control", "eager", "padded-eager", "graph", "carried"}));
  EXPECT_EQ(words_read_back<Phase>(parse_phase),
            (Words{"set-up", "profile", "control", "eager", "padded-eager", "warm-up", "capture",
                   "replay", "carried", "experiment", "report"}));
}

}  // namespace
}  // namespace graphsan::model
