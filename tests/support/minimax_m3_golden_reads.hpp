#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/ops.hpp"
#include "tests/support/kv_pool.hpp"
#include "tests/support/safetensors.hpp"

// Indexer, selection and attention against outputs of the public upstream kernels.
namespace graphsan::test {

class MiniMaxM3GoldenReads : public OpTest {
 protected:
  static constexpr std::int32_t kTableStride = 24;
  static constexpr std::int32_t kHeads = 2;
  static constexpr std::int32_t kTopK = 16;

  [[nodiscard]] step::minimax_m3::ContextArg context(const std::vector<std::int32_t>& table,
                                                     const std::vector<std::int32_t>& sequences,
                                                     const std::vector<std::int32_t>& seq_lens) {
    std::vector<std::int64_t> positions(seq_lens.begin(), seq_lens.end());
    for (std::int64_t& position : positions) --position;
    return {arena().upload(table),
            arena().upload(sequences),
            arena().upload(positions),
            arena().upload(seq_lens),
            kTableStride,
            128};
  }

  struct Selection {
    std::vector<float> scores;        ///< [heads, tokens, kTableStride]
    std::vector<std::int32_t> top_k;  ///< [heads, tokens, kTopK]
  };

  [[nodiscard]] Selection select(const SafeTensors& file, const std::string& index_q,
                                 const step::minimax_m3::ContextArg& where, std::int32_t tokens) {
    namespace m3 = step::minimax_m3;
    const auto lanes = static_cast<std::size_t>(tokens);
    auto* scores = arena().make<float>(kHeads * lanes * kTableStride);
    auto* top_k = arena().make<std::int32_t>(kHeads * lanes * kTopK);
    const m3::IndexerScoreArgs score{arena().upload(file.get<std::uint16_t>(index_q)),
                                     arena().upload(file.get<std::uint16_t>("index_cache")),
                                     scores,
                                     where,
                                     tokens,
                                     kHeads,
                                     kTableStride};
    m3::launch_indexer_score(device(), stream(), score);
    m3::launch_indexer_top_k(
        device(), stream(),
        {scores, top_k, where.seq_lens, tokens, tokens, kHeads, kTableStride, kTopK, 0, 1});
    return {arena().download(scores, kHeads * lanes * kTableStride),
            arena().download(top_k, kHeads * lanes * kTopK)};
  }

  static void expect_same_sets(const std::vector<std::int32_t>& ids,
                               const std::vector<std::int32_t>& golden) {
    ASSERT_EQ(ids.size(), golden.size());
    for (std::size_t row = 0; row < ids.size(); row += kTopK) {
      const auto first = static_cast<std::ptrdiff_t>(row);
      const std::multiset<std::int32_t> actual(ids.begin() + first, ids.begin() + first + kTopK);
      const std::multiset<std::int32_t> expected(golden.begin() + first,
                                                 golden.begin() + first + kTopK);
      EXPECT_EQ(actual, expected) << "row " << row / kTopK;
    }
  }

  void check_attention(const SafeTensors& file, const std::string& name, model::DType dtype) {
    namespace m3 = step::minimax_m3;
    SCOPED_TRACE(name);
    constexpr std::int32_t kTokens = 5;
    constexpr std::int32_t kQueryHeads = 8;
    constexpr std::size_t kOut = kTokens * kQueryHeads * m3::kHeadDim;
    KvPool pool{arena(), dtype, 36, 128, kHeads};
    pool.bytes = file.get<std::byte>("kv_" + name);
    pool.upload();
    const auto seq_lens = file.get<std::int32_t>("seq_lens");
    m3::AttentionArgs args{};
    args.q = arena().upload(file.get<std::uint16_t>("q"));
    args.out = arena().make<std::uint16_t>(kOut);
    args.top_k = arena().upload(file.get<std::int32_t>("topk"));
    args.cache = pool.arg;
    args.context = context(file.get<std::int32_t>("block_table"), {0, 1, 2, 3, 4}, seq_lens);
    args.tokens = kTokens;
    args.tokens_stride = kTokens;
    args.q_heads = kQueryHeads;
    args.k = kTopK;
    m3::launch_attention(device(), stream(), args);
    const auto out = arena().download(args.out, kOut);
    const auto golden = file.get<std::uint16_t>("decode." + name + ".out");
    const std::size_t last_lane = kOut / kTokens * (kTokens - 1);
    for (std::size_t i = 0; i < last_lane; ++i) {
      const float expected = m3::bf16_to_float(golden[i]);
      ASSERT_NEAR(m3::bf16_to_float(out[i]), expected, 4e-3F + 1e-2F * std::abs(expected)) << i;
    }
    ASSERT_EQ(seq_lens.back(), 0);
    for (std::size_t i = last_lane; i < kOut; ++i) ASSERT_EQ(out[i], 0) << "lane without context";
  }
};

TEST_P(MiniMaxM3GoldenReads, DecodeScoresAndSelectionMatchUpstream) {
  constexpr std::size_t kGoldenWidth = 32;
  const SafeTensors file{"indexer.safetensors"};
  const auto seq_lens = file.get<std::int32_t>("seq_lens");
  const auto tokens = seq_lens.size();
  const Selection selection = select(
      file, "index_q", context(file.get<std::int32_t>("block_table"), {0, 1, 2, 3, 4}, seq_lens),
      static_cast<std::int32_t>(tokens));
  const auto golden = file.get<float>("decode.score");
  std::size_t compared = 0;
  for (std::size_t row = 0; row < kHeads * tokens; ++row) {
    // The last visible block holds a forced score upstream.
    const int plain = (seq_lens[row % tokens] - 1) / 128;
    for (int block = 0; block < plain; ++block, ++compared) {
      EXPECT_NEAR(selection.scores[row * kTableStride + block], golden[row * kGoldenWidth + block],
                  1e-4F)
          << "row " << row << ", block " << block;
    }
  }
  EXPECT_EQ(compared, kHeads * (0 + 1 + 8 + 19));
  expect_same_sets(selection.top_k, file.get<std::int32_t>("decode.topk"));
}

TEST_P(MiniMaxM3GoldenReads, PrefillSelectionMatchesUpstream) {
  const SafeTensors file{"indexer.safetensors"};
  const auto starts = file.get<std::int32_t>("prefill.cu_seqlens_q");
  const auto prefixes = file.get<std::int32_t>("prefill.prefix_lens");
  std::vector<std::int32_t> sequences;
  std::vector<std::int32_t> seq_lens;
  for (std::int32_t s = 0; s < 2; ++s) {
    for (std::int32_t t = starts[s]; t < starts[s + 1]; ++t) {
      sequences.push_back(s);
      seq_lens.push_back(prefixes[s] + t - starts[s] + 1);
    }
  }
  ASSERT_EQ(seq_lens.size(), 199U);
  ASSERT_EQ(seq_lens.back(), file.get<std::int32_t>("prefill.seq_lens").back());
  const Selection selection =
      select(file, "prefill.index_q",
             context(file.get<std::int32_t>("prefill.block_table"), sequences, seq_lens), 199);
  expect_same_sets(selection.top_k, file.get<std::int32_t>("prefill.topk"));
}

TEST_P(MiniMaxM3GoldenReads, SparseAttentionMatchesUpstream) {
  const SafeTensors file{"sparse_attention.safetensors"};
  check_attention(file, "e4m3", model::DType::kFp8E4M3);
  check_attention(file, "e5m2", model::DType::kFp8E5M2);
}

}  // namespace graphsan::test
