#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/ops.hpp"
#include "tests/support/kv_pool.hpp"

// What the writing ops must do on every device.
namespace graphsan::test {

class MiniMaxM3Writes : public OpTest {
 protected:
  using Words = std::vector<std::uint16_t>;
  static constexpr int kHeadDim = step::minimax_m3::kHeadDim;
  static constexpr std::int64_t kPositions = 64;

  static Words drawn(std::size_t count, std::uint64_t seed, float scale = 1.0F) {
    Words words(count);
    const auto keys = step::minimax_m3::draw_keys(seed, 0);
    for (std::size_t i = 0; i < count; ++i) {
      words[i] = step::minimax_m3::draw_element(keys, static_cast<std::uint32_t>(i), scale);
    }
    return words;
  }

  /// Norm and rope of a batch with its own buffers.
  struct NormCase {
    step::minimax_m3::NormRopeArgs args{};
    std::size_t row_width = 0;
    Words qkv;
  };

  /// Token t's row is row `rows[t]` of a fixed supply, its position `positions[t]`.
  NormCase norm_case(const step::minimax_m3::HeadsArg& heads, const std::vector<int>& rows,
                     const std::vector<std::int64_t>& positions) {
    NormCase made;
    const auto tokens = rows.size();
    made.row_width = static_cast<std::size_t>(
        (heads.q + 2 * heads.kv + heads.index_q + heads.index_k) * kHeadDim);
    const Words supply = drawn(made.row_width * 64, 1);
    for (const int row : rows) {
      const auto first = supply.begin() + row * static_cast<std::ptrdiff_t>(made.row_width);
      made.qkv.insert(made.qkv.end(), first, first + static_cast<std::ptrdiff_t>(made.row_width));
    }
    auto& args = made.args;
    args.qkv = arena().upload(made.qkv);
    args.q_out = arena().make<std::uint16_t>(tokens * heads.q * kHeadDim);
    args.index_q_out = heads.index_q == 0
                           ? nullptr
                           : arena().make<std::uint16_t>(tokens * heads.index_q * kHeadDim);
    args.w_q = arena().upload(drawn(kHeadDim, 11, 0.1F));
    args.w_k = arena().upload(drawn(kHeadDim, 12, 0.1F));
    args.w_index_q = heads.index_q == 0 ? nullptr : arena().upload(drawn(kHeadDim, 13, 0.1F));
    args.w_index_k = heads.index_k == 0 ? nullptr : arena().upload(drawn(kHeadDim, 14, 0.1F));
    args.positions = arena().upload(positions);
    args.cos_sin = arena().upload(drawn(kPositions * 64, 15, 0.5F));
    args.heads = heads;
    args.row_width = static_cast<std::int64_t>(made.row_width);
    args.tokens = static_cast<std::int32_t>(tokens);
    return made;
  }

  /// Normed rows as the op leaves them: each token's qkv row, q and index-q.
  std::vector<Words> normed(const NormCase& made) {
    const auto& args = made.args;
    step::minimax_m3::launch_norm_rope(device(), stream(), args);
    const auto tokens = static_cast<std::size_t>(args.tokens);
    const auto q_width = static_cast<std::size_t>(args.heads.q * kHeadDim);
    const auto iq_width = static_cast<std::size_t>(args.heads.index_q * kHeadDim);
    const Words qkv = arena().download(args.qkv, made.qkv.size());
    const Words q = arena().download(args.q_out, tokens * q_width);
    const Words iq =
        iq_width == 0 ? Words{} : arena().download(args.index_q_out, tokens * iq_width);
    std::vector<Words> result(tokens);
    for (std::size_t t = 0; t < tokens; ++t) {
      for (const auto& [words, width] :
           {std::pair{&qkv, made.row_width}, std::pair{&q, q_width}, std::pair{&iq, iq_width}}) {
        const auto first = words->begin() + static_cast<std::ptrdiff_t>(t * width);
        result[t].insert(result[t].end(), first, first + static_cast<std::ptrdiff_t>(width));
      }
    }
    return result;
  }

  /// Norm and rope of one head in double.
  static std::vector<double> exact_norm_rope(const std::uint16_t* x, const Words& weight,
                                             const std::uint16_t* cos_sin) {
    using step::minimax_m3::bf16_to_float;
    std::vector<double> y(kHeadDim);
    double squares = 0;
    for (int d = 0; d < kHeadDim; ++d) squares += std::pow(bf16_to_float(x[d]), 2);
    for (int d = 0; d < kHeadDim; ++d) {
      y[d] = bf16_to_float(x[d]) / std::sqrt(squares / kHeadDim + 1e-6) *
             (1.0 + bf16_to_float(weight[d]));
    }
    for (int i = 0; i < 32; ++i) {
      const double cosine = bf16_to_float(cos_sin[i]);
      const double sine = bf16_to_float(cos_sin[32 + i]);
      const double first = y[i];
      const double second = y[i + 32];
      y[i] = first * cosine - second * sine;
      y[i + 32] = second * cosine + first * sine;
    }
    return y;
  }

  static void expect_head(const std::uint16_t* actual, const std::vector<double>& expected) {
    for (int d = 0; d < kHeadDim; ++d) {
      ASSERT_NEAR(step::minimax_m3::bf16_to_float(actual[d]), expected[d],
                  1e-6 + 4e-3 * std::abs(expected[d]))
          << "element " << d;
    }
  }

  /// Index-K cache of `slots` rows after writing tokens 0, 1, ... to `targets`.
  Words index_rows(const std::vector<std::int64_t>& targets, std::int64_t slots,
                   step::minimax_m3::NegativeSlot negative) {
    auto* cache = arena().make<std::uint16_t>(static_cast<std::size_t>(slots * kHeadDim));
    const Words source = drawn(targets.size() * 256, 5);
    step::minimax_m3::launch_index_key_write(device(), stream(),
                                             {arena().upload(source),
                                              256,
                                              arena().upload(targets),
                                              {cache, slots},
                                              static_cast<std::int32_t>(targets.size()),
                                              negative});
    return arena().download(cache, static_cast<std::size_t>(slots * kHeadDim));
  }

  static Words expected_index_rows(const std::vector<std::pair<std::size_t, std::size_t>>& writes,
                                   std::size_t tokens, std::size_t slots) {
    const Words source = drawn(tokens * 256, 5);
    Words rows(slots * kHeadDim, 0xFFFF);
    for (const auto& [slot, token] : writes) {
      std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(token * 256), kHeadDim,
                  rows.begin() + static_cast<std::ptrdiff_t>(slot * kHeadDim));
    }
    return rows;
  }
};

TEST_P(MiniMaxM3Writes, NormAndRopeAreExactForEveryTensorParallelShape) {
  for (const step::minimax_m3::HeadsArg& heads : {step::minimax_m3::HeadsArg{64, 4, 4, 1},
                                                  {32, 2, 2, 1},
                                                  {16, 1, 1, 1},
                                                  {8, 1, 1, 1},
                                                  {8, 1, 0, 0},
                                                  {1, 1, 1, 1}}) {
    const NormCase made = norm_case(heads, {0, 1, 2}, {0, 63, 17});
    const std::vector<Words> rows = normed(made);
    const Words table = drawn(kPositions * 64, 15, 0.5F);
    const std::vector<std::int64_t> positions{0, 63, 17};
    for (std::size_t t = 0; t < 3; ++t) {
      const std::uint16_t* before = &made.qkv[t * made.row_width];
      const std::uint16_t* cos_sin = &table[static_cast<std::size_t>(positions[t]) * 64];
      const std::uint16_t* after = rows[t].data();
      const std::uint16_t* q = after + made.row_width;
      const std::uint16_t* index_q = q + heads.q * kHeadDim;
      const auto expected = [&](std::int32_t head, std::uint64_t weight) {
        return exact_norm_rope(before + head * kHeadDim, drawn(kHeadDim, weight, 0.1F), cos_sin);
      };
      for (std::int32_t h = 0; h < heads.q; ++h) expect_head(q + h * kHeadDim, expected(h, 11));
      for (std::int32_t h = heads.q; h < heads.q + heads.kv; ++h) {
        expect_head(after + h * kHeadDim, expected(h, 12));
      }
      const std::int32_t first_index = heads.q + 2 * heads.kv;
      for (std::int32_t h = 0; h < heads.index_q; ++h) {
        expect_head(index_q + h * kHeadDim, expected(first_index + h, 13));
      }
      if (heads.index_k == 1) {
        const std::int32_t head = first_index + heads.index_q;
        expect_head(after + head * kHeadDim, expected(head, 14));
      }
      EXPECT_TRUE(std::equal(before, before + heads.q * kHeadDim, after)) << "q in the row";
      EXPECT_TRUE(std::equal(before + (heads.q + heads.kv) * kHeadDim,
                             before + first_index * kHeadDim,
                             after + (heads.q + heads.kv) * kHeadDim))
          << "v in the row";
    }
  }
}

TEST_P(MiniMaxM3Writes, NormGivesALaneTheSameBitsInAnyBatchAndReadsRowZeroForPads) {
  const step::minimax_m3::HeadsArg heads{8, 1, 1, 1};
  const auto batch = normed(norm_case(heads, {5, 6, 7, 8, 9}, {1, 2, 3, -1, 60}));
  EXPECT_EQ(normed(norm_case(heads, {7}, {3}))[0], batch[2]);
  EXPECT_EQ(normed(norm_case(heads, {9, 7}, {60, 3}))[0], batch[4]);
  EXPECT_EQ(normed(norm_case(heads, {8}, {0}))[0], batch[3]);
}

TEST_P(MiniMaxM3Writes, FusedAndTwoStepGiveTheSameBf16CachesAndTheSameFp8Values) {
  const step::minimax_m3::HeadsArg heads{8, 2, 2, 1};
  const std::vector<std::int64_t> slots{5, -1, 40, 0, 63, 64, -7};  // 64 is beyond the cache
  const std::vector<int> rows{0, 1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> positions{0, 1, 2, 3, 4, 5, 6};
  for (const auto dtype : {model::DType::kBf16, model::DType::kFp8E4M3, model::DType::kFp8E5M2}) {
    NormCase fused = norm_case(heads, rows, positions);
    KvPool once{arena(), dtype, 4, 16, heads.kv, KvArrangement::kHnd};
    auto* once_index = arena().make<std::uint16_t>(64 * kHeadDim);
    fused.args.cache = once.arg;
    fused.args.index_cache = {once_index, 64};
    fused.args.slots = arena().upload(slots);
    fused.args.index_slots = fused.args.slots;
    const auto fused_rows = normed(fused);
    once.download();

    NormCase plain = norm_case(heads, rows, positions);
    EXPECT_EQ(normed(plain), fused_rows);
    KvPool twice{arena(), dtype, 4, 16, heads.kv, KvArrangement::kHnd};
    auto* twice_index = arena().make<std::uint16_t>(64 * kHeadDim);
    const std::uint16_t* key = plain.args.qkv + heads.q * kHeadDim;
    const std::uint16_t* value = key + heads.kv * kHeadDim;
    step::minimax_m3::launch_reshape_and_cache(
        device(), stream(),
        {key, value, plain.args.row_width, plain.args.row_width, fused.args.slots, nullptr, nullptr,
         twice.arg, plain.args.tokens, 1});
    step::minimax_m3::launch_index_key_write(device(), stream(),
                                             {value + (heads.kv + heads.index_q) * kHeadDim,
                                              plain.args.row_width,
                                              fused.args.slots,
                                              {twice_index, 64},
                                              plain.args.tokens,
                                              step::minimax_m3::NegativeSlot::kSkip});
    twice.download();
    EXPECT_EQ(arena().download(once_index, 64 * kHeadDim),
              arena().download(twice_index, 64 * kHeadDim));
    if (dtype == model::DType::kBf16) {
      EXPECT_EQ(once.bytes, twice.bytes);
      continue;
    }
    std::size_t differing = 0;
    for (std::int64_t slot = 0; slot < 64; ++slot) {
      for (std::int32_t head = 0; head < heads.kv; ++head) {
        EXPECT_EQ(
            std::memcmp(once.run(true, slot, head), twice.run(true, slot, head), once.run_bytes()),
            0);
        for (std::size_t i = 0; i < once.run_bytes(); ++i) {
          const int a = static_cast<int>(once.run(false, slot, head)[i]);
          const int b = static_cast<int>(twice.run(false, slot, head)[i]);
          EXPECT_LE(std::abs(a - b), 1);
          differing += a == b ? 0U : 1U;
        }
      }
    }
    // 4 rows × 2 heads × 128 bytes were written; one and two roundings differ in a few percent.
    EXPECT_GT(differing, 0U);
    EXPECT_LT(differing, 100U);
  }
}

TEST_P(MiniMaxM3Writes, EachHeadHasItsOwnScale) {
  KvPool pool{arena(), model::DType::kFp8E4M3, 1, 16, 2};
  const Words ones(2 * kHeadDim, 0x3F80);
  step::minimax_m3::ReshapeAndCacheArgs args{};
  args.key = arena().upload(ones);
  args.value = args.key;
  args.key_stride = args.value_stride = 2 * kHeadDim;
  args.slots = arena().upload(std::vector<std::int64_t>{3});
  args.k_scale = arena().upload(std::vector<float>{1.0F, 0.5F});
  args.v_scale = arena().upload(std::vector<float>{0.25F, 2.0F});
  args.cache = pool.arg;
  args.tokens = 1;
  args.scale_count = 2;
  step::minimax_m3::launch_reshape_and_cache(device(), stream(), args);
  pool.download();
  EXPECT_EQ(pool.run(false, 3, 0)[0], std::byte{0x38});  // 1
  EXPECT_EQ(pool.run(false, 3, 1)[0], std::byte{0x40});  // 2
  EXPECT_EQ(pool.run(true, 3, 0)[0], std::byte{0x48});   // 4
  EXPECT_EQ(pool.run(true, 3, 1)[0], std::byte{0x30});   // 0.5
}

TEST_P(MiniMaxM3Writes, IndexKeySkipsOrWrapsNegativeSlots) {
  using step::minimax_m3::NegativeSlot;
  const std::vector<std::int64_t> targets{3, -1, 0, -8, -9, 8};
  EXPECT_EQ(index_rows(targets, 8, NegativeSlot::kSkip),
            expected_index_rows({{3, 0}, {0, 2}}, 6, 8));
  EXPECT_EQ(index_rows({3, -1, -7, -9, 8}, 8, NegativeSlot::kWrap),
            expected_index_rows({{3, 0}, {7, 1}, {1, 2}}, 5, 8));
}

}  // namespace graphsan::test
