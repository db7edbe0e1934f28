#include "step/minimax_m3/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace graphsan::step::minimax_m3 {
namespace {

using ::testing::HasSubstr;

/// What validate() says of the defaults after `change`; empty when it accepts them.
std::string refusal(const std::function<void(Config&)>& change) {
  Config config;
  change(config);
  try {
    validate(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(MinimaxM3Config, AcceptsTheDefaults) {
  EXPECT_EQ(refusal([](Config&) {}), "");
}

TEST(MinimaxM3Config, RefusesANumberThatMakesNoStepAndNamesTheOption) {
  const std::vector<std::pair<std::function<void(Config&)>, std::string>> cases{
      {[](Config& c) { c.steps = 0; }, "--steps"},
      {[](Config& c) { c.tokens = 0; }, "--tokens"},
      {[](Config& c) { c.layers = 0; }, "--layers"},
      {[](Config& c) { c.tp = 3; }, "--tp must be 1, 2, 4 or 8"},
      {[](Config& c) { c.page_size = 48; }, "--page-size 48"},
      {[](Config& c) { c.context = 1; }, "--context must be at least 2"},
      {[](Config& c) { c.context = 1'048'577; }, "1048576"},
      {[](Config& c) { c.capture_limit = 0; }, "--capture-limit"},
  };
  for (const auto& [change, words] : cases) EXPECT_THAT(refusal(change), HasSubstr(words));
}

TEST(MinimaxM3Config, SaysWhichBucketWouldHoldTheTokens) {
  const std::string message = refusal([](Config& c) {
    c.tokens = 9;
    c.bucket = 8;
  });
  EXPECT_THAT(message, HasSubstr("--bucket 8 is smaller than --tokens 9"));
  EXPECT_THAT(message, HasSubstr("give at least 16"));
}

TEST(MinimaxM3Config, RefusesFp8WhereTheFusedOpIsOfTheFirstGeneration) {
  const auto fp8 = [](Config& c) {
    c.kv_dtype = model::DType::kFp8E5M2;
    c.fused_op = FusedOp::kBf16Only;
  };
  EXPECT_THAT(refusal(fp8), HasSubstr("bf16 cache only"));
  EXPECT_EQ(refusal([&](Config& c) {
              fp8(c);
              c.write_path = WritePath::kTwoStep;
            }),
            "");
  EXPECT_EQ(refusal([](Config& c) { c.fused_op = FusedOp::kBf16Only; }), "");
}

TEST(MinimaxM3Config, BucketsAreOneTwoFourThenMultiplesOfEight) {
  const std::vector<std::pair<int, int>> cases{{1, 1},   {2, 2},   {3, 4},     {4, 4},
                                               {5, 8},   {8, 8},   {9, 16},    {16, 16},
                                               {17, 24}, {25, 32}, {192, 192}, {193, 200}};
  for (const auto& [tokens, bucket] : cases) EXPECT_EQ(bucket_for(tokens), bucket) << tokens;
}

struct PresetCase {
  Mode mode;
  Batch batch;
  bool covered;
  BreakSet breaks;
  CaptureMetadata metadata;
};

TEST(MinimaxM3Config, EachModeSaysWhatIsCapturedAndWithWhichMetadata) {
  const BreakSet none{};
  const BreakSet piecewise{.indexer = true, .attention = true};
  const BreakSet breakable{.insert = true, .indexer = true, .attention = true};
  const std::vector<PresetCase> cases{
      {Mode::kPiecewise, Batch::kDecode, true, piecewise, CaptureMetadata::kNone},
      {Mode::kPiecewise, Batch::kPrefill, true, piecewise, CaptureMetadata::kNone},
      {Mode::kPiecewise, Batch::kMixed, true, piecewise, CaptureMetadata::kNone},
      {Mode::kBreakable, Batch::kDecode, true, breakable, CaptureMetadata::kNone},
      {Mode::kBreakable, Batch::kPrefill, true, breakable, CaptureMetadata::kNone},
      {Mode::kFull, Batch::kDecode, true, none, CaptureMetadata::kDummy},
      {Mode::kFull, Batch::kPrefill, true, none, CaptureMetadata::kDummy},
      {Mode::kFullDecodeOnly, Batch::kDecode, true, none, CaptureMetadata::kDummy},
      {Mode::kFullDecodeOnly, Batch::kPrefill, false, none, CaptureMetadata::kDummy},
      {Mode::kFullDecodeOnly, Batch::kMixed, false, none, CaptureMetadata::kDummy},
      {Mode::kFullAndPiecewise, Batch::kDecode, true, none, CaptureMetadata::kDummy},
      {Mode::kFullAndPiecewise, Batch::kPrefill, true, piecewise, CaptureMetadata::kNone},
      {Mode::kFullAndPiecewise, Batch::kMixed, true, piecewise, CaptureMetadata::kNone},
  };
  for (const PresetCase& expected : cases) {
    Config config;
    config.mode = expected.mode;
    const CapturePreset preset = capture_preset(config, expected.batch, 4);
    const std::string name =
        std::string{to_string(expected.mode)} + " " + std::string{to_string(expected.batch)};
    EXPECT_EQ(preset.covered, expected.covered) << name;
    EXPECT_EQ(preset.breaks, expected.breaks) << name;
    EXPECT_EQ(preset.metadata, expected.metadata) << name;
  }
}

TEST(MinimaxM3Config, NoModeCapturesMoreLanesThanTheLimit) {
  for (const Mode mode : {Mode::kPiecewise, Mode::kBreakable, Mode::kFull, Mode::kFullDecodeOnly,
                          Mode::kFullAndPiecewise}) {
    Config config;
    config.mode = mode;
    EXPECT_TRUE(capture_preset(config, Batch::kDecode, 512).covered) << to_string(mode);
    EXPECT_FALSE(capture_preset(config, Batch::kDecode, 520).covered) << to_string(mode);
  }
}

TEST(MinimaxM3Config, ChosenBreaksAndMetadataOverrideTheModes) {
  Config config;
  config.breaks = BreakSet{.insert = true};
  config.capture_metadata = CaptureMetadata::kDummy;
  const CapturePreset preset = capture_preset(config, Batch::kDecode, 4);
  EXPECT_EQ(preset.breaks, BreakSet{.insert = true});
  EXPECT_EQ(preset.metadata, CaptureMetadata::kDummy);
}

TEST(MinimaxM3Config, SplitsTheHeadsOverTheRanksAndKeepsOneKvHead) {
  const std::vector<std::pair<int, HeadsArg>> cases{
      {1, {.q = 64, .kv = 4, .index_q = 4, .index_k = 1}},
      {2, {.q = 32, .kv = 2, .index_q = 2, .index_k = 1}},
      {4, {.q = 16, .kv = 1, .index_q = 1, .index_k = 1}},
      {8, {.q = 8, .kv = 1, .index_q = 1, .index_k = 1}},
  };
  for (const auto& [tp, expected] : cases) {
    const HeadsArg sparse = heads_for(tp, true);
    EXPECT_EQ(sparse.q, expected.q) << tp;
    EXPECT_EQ(sparse.kv, expected.kv) << tp;
    EXPECT_EQ(sparse.index_q, expected.index_q) << tp;
    EXPECT_EQ(sparse.index_k, expected.index_k) << tp;
    const HeadsArg dense = heads_for(tp, false);
    EXPECT_EQ(dense.index_q, 0) << tp;
    EXPECT_EQ(dense.index_k, 0) << tp;
  }
}

TEST(MinimaxM3Config, ARowHoldsAllHeadsSideBySide) {
  EXPECT_EQ(row_width(heads_for(8, true)), (8 + 2 + 1 + 1) * 128);
  EXPECT_EQ(row_width(heads_for(1, true)), (64 + 8 + 4 + 1) * 128);
  EXPECT_EQ(row_width(heads_for(8, false)), (8 + 2) * 128);
}

TEST(MinimaxM3Config, TheFirstLayersAreDense) {
  EXPECT_TRUE(is_sparse_layer(0, 1));
  EXPECT_FALSE(is_sparse_layer(0, 2));
  EXPECT_TRUE(is_sparse_layer(1, 2));
  EXPECT_TRUE(is_sparse_layer(1, 5));
  EXPECT_FALSE(is_sparse_layer(2, 6));
  EXPECT_TRUE(is_sparse_layer(3, 6));
}

TEST(MinimaxM3Config, CountsTheBytesOfATokenInAllCaches) {
  Config config;
  config.layers = 60;
  // TP 8: one KV head of 128; K and V on 60 layers, bf16 index-K on 57.
  EXPECT_EQ(bytes_per_token(config), 60U * 2 * 128 * 2 + 57U * 128 * 2);
  config.kv_dtype = model::DType::kFp8E5M2;
  EXPECT_EQ(bytes_per_token(config), 60U * 2 * 128 + 57U * 128 * 2);
  config.tp = 1;
  EXPECT_EQ(bytes_per_token(config), 60U * 2 * 4 * 128 + 57U * 128 * 2);
}

}  // namespace
}  // namespace graphsan::step::minimax_m3
