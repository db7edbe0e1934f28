#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/ops.hpp"
#include "tests/support/kv_pool.hpp"

// What is launched when, and the small ops.
namespace graphsan::test {

class MiniMaxM3Launches : public OpTest {
 protected:
  /// Names of the kernels that `issue` launches.
  std::vector<std::string> launched(const std::function<void()>& issue) {
    WorkLog log;
    device().set_work_listener(&log);
    issue();
    device().set_work_listener(nullptr);
    device().synchronize(stream());
    std::vector<std::string> names;
    for (const device::WorkRecord& record : log.records) names.push_back(record.name);
    return names;
  }

  [[nodiscard]] step::minimax_m3::ReshapeAndCacheArgs reshape_args(
      const step::minimax_m3::KvCacheArg& cache) {
    step::minimax_m3::ReshapeAndCacheArgs args{};
    args.key = arena().make<std::uint16_t>(256);
    args.value = args.key;
    args.key_stride = args.value_stride = 128;
    args.slots = arena().upload(std::vector<std::int64_t>{0, 1});
    args.cache = cache;
    args.tokens = 2;
    args.scale_count = 1;
    return args;
  }

  std::vector<std::uint16_t> draw(std::int64_t first, std::int64_t count, std::uint64_t seed,
                                  float scale = 1.0F) {
    auto* out = arena().make<std::uint16_t>(static_cast<std::size_t>(count));
    step::minimax_m3::launch_draw(device(), stream(), {out, count, first, seed, scale});
    return arena().download(out, static_cast<std::size_t>(count));
  }
};

TEST_P(MiniMaxM3Launches, NothingIsLaunchedForNoTokens) {
  namespace m3 = step::minimax_m3;
  EXPECT_EQ(launched([&] {
              m3::launch_norm_rope(device(), stream(), {});
              m3::launch_reshape_and_cache(device(), stream(), {});
              m3::launch_index_key_write(device(), stream(), {});
              m3::launch_indexer_score(device(), stream(), {});
              m3::launch_indexer_top_k(device(), stream(), {});
              m3::launch_attention(device(), stream(), {});
              m3::launch_mix(device(), stream(), {});
              m3::launch_draw(device(), stream(), {});
              m3::launch_contiguous(device(), stream(), {});
              m3::launch_fill_float(device(), stream(), {});
            }),
            std::vector<std::string>{});
}

TEST_P(MiniMaxM3Launches, UnboundAndEmptyCachesAreLaunchedAndReceiveNothing) {
  namespace m3 = step::minimax_m3;
  KvPool pool{arena(), model::DType::kBf16, 1, 16, 1};
  m3::KvCacheArg unbound = pool.arg;
  unbound.key = nullptr;
  unbound.value = nullptr;
  m3::KvCacheArg empty = pool.arg;
  empty.slots = 0;
  auto* index = arena().make<std::uint16_t>(128);
  const auto* slots = arena().upload(std::vector<std::int64_t>{0});
  const auto* source = arena().upload(std::vector<std::uint16_t>(128, 1));
  const auto to_unbound = reshape_args(unbound);
  const auto to_empty = reshape_args(empty);
  const auto names = launched([&] {
    m3::launch_reshape_and_cache(device(), stream(), to_unbound);
    m3::launch_reshape_and_cache(device(), stream(), to_empty);
    for (const auto negative : {m3::NegativeSlot::kSkip, m3::NegativeSlot::kWrap}) {
      m3::launch_index_key_write(device(), stream(),
                                 {source, 128, slots, {nullptr, 1}, 1, negative});
      m3::launch_index_key_write(device(), stream(), {source, 128, slots, {index, 0}, 1, negative});
    }
  });
  ASSERT_EQ(names.size(), 6U);
  EXPECT_NE(names[0].find("reshape_and_cache_flash"), std::string::npos);
  EXPECT_NE(names[2].find("index_key_write"), std::string::npos);
  EXPECT_NE(names[4].find("index_put"), std::string::npos);
  pool.download();
  EXPECT_EQ(pool.bytes, std::vector<std::byte>(pool.bytes.size(), std::byte{0xFF}));
  EXPECT_EQ(arena().download(index, 128), std::vector<std::uint16_t>(128, 0xFFFF));
}

TEST_P(MiniMaxM3Launches, ReadersOfUnboundCachesLeaveTheirOutputsAlone) {
  namespace m3 = step::minimax_m3;
  auto* out = arena().make<std::uint16_t>(128);
  auto* scores = arena().make<float>(1);
  const auto* q = arena().upload(std::vector<std::uint16_t>(128, 0x3F80));
  const m3::ContextArg context{arena().upload(std::vector<std::int32_t>{0}),
                               arena().upload(std::vector<std::int32_t>{0}),
                               arena().upload(std::vector<std::int64_t>{0}),
                               arena().upload(std::vector<std::int32_t>{1}),
                               1,
                               128};
  m3::AttentionArgs attention{};
  attention.q = q;
  attention.out = out;
  attention.cache.heads = 1;
  attention.cache.page_size = 128;
  attention.context = context;
  attention.tokens = attention.tokens_stride = 1;
  attention.q_heads = 1;
  EXPECT_EQ(launched([&] {
              m3::launch_attention(device(), stream(), attention);
              m3::launch_indexer_score(device(), stream(), {q, nullptr, scores, context, 1, 1, 1});
            }).size(),
            2U);
  EXPECT_EQ(arena().download(out, 128), std::vector<std::uint16_t>(128, 0xFFFF));
  EXPECT_TRUE(std::isnan(arena().download(scores, 1)[0]));
}

TEST_P(MiniMaxM3Launches, DrawsDependOnSeedAndIndexOnly) {
  const auto whole = draw(0, 5000, 42);
  const auto part = draw(1234, 1000, 42);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 1234));
  EXPECT_NE(draw(0, 5000, 43), whole);
  const std::int64_t border = std::int64_t{1} << 32;
  const auto across = draw(border - 500, 1000, 42);
  const auto beyond = draw(border, 500, 42);
  EXPECT_TRUE(std::equal(beyond.begin(), beyond.end(), across.begin() + 500));
  EXPECT_FALSE(std::equal(beyond.begin(), beyond.end(), whole.begin()));
}

TEST_P(MiniMaxM3Launches, DrawsHaveTheMomentsOfScaledNormalData) {
  const auto bits = draw(0, 200'000, 7, 3.0F);
  double mean = 0;
  double square = 0;
  double neighbours = 0;
  double previous = 0;
  for (const std::uint16_t word : bits) {
    const double value = step::minimax_m3::bf16_to_float(word) / 3.0;
    mean += value;
    square += value * value;
    neighbours += value * previous;
    previous = value;
  }
  const auto count = static_cast<double>(bits.size());
  EXPECT_NEAR(mean / count, 0.0, 0.01);
  EXPECT_NEAR(square / count, 1.0, 0.02);
  EXPECT_NEAR(neighbours / count, 0.0, 0.01);
}

TEST_P(MiniMaxM3Launches, MixAddsTheWeightedColumnsAndRounds) {
  using namespace step::minimax_m3;
  const std::vector<std::uint16_t> base = draw(0, 3 * 40, 1);
  const std::vector<std::uint16_t> out = draw(0, 3 * 16, 2);
  auto* qkv = arena().make<std::uint16_t>(base.size());
  const MixArgs args{arena().upload(base), arena().upload(out), qkv, 40, 16, 3, 0.3F};
  launch_mix(device(), stream(), args);
  const auto mixed_rows = arena().download(qkv, base.size());
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t j = 0; j < 40; ++j) {
      const float product = 0.3F * bf16_to_float(out[t * 16 + (j * 7 + 3) % 16]);
      volatile float rounded = product;  // keeps the product apart from the sum
      EXPECT_EQ(mixed_rows[t * 40 + j], float_to_bf16(bf16_to_float(base[t * 40 + j]) + rounded));
    }
  }
  MixArgs first_layer = args;
  first_layer.out = nullptr;
  launch_mix(device(), stream(), first_layer);
  EXPECT_EQ(arena().download(qkv, base.size()), base);
}

TEST_P(MiniMaxM3Launches, ContiguousAndFillDoWhatTheySay) {
  namespace m3 = step::minimax_m3;
  const std::vector<std::uint16_t> source = draw(0, 4 * 50, 1);
  auto* packed = arena().make<std::uint16_t>(4 * 20);
  m3::launch_contiguous(device(), stream(), {arena().upload(source), 50, packed, 4, 20});
  const auto rows = arena().download(packed, 4 * 20);
  for (std::ptrdiff_t t = 0; t < 4; ++t) {
    EXPECT_TRUE(
        std::equal(rows.begin() + t * 20, rows.begin() + t * 20 + 20, source.begin() + t * 50));
  }
  auto* numbers = arena().make<float>(3000);
  m3::launch_fill_float(device(), stream(), {numbers, 2999, 1.5F});
  const auto filled = arena().download(numbers, 3000);
  EXPECT_EQ(std::vector<float>(filled.begin(), filled.end() - 1), std::vector<float>(2999, 1.5F));
  EXPECT_TRUE(std::isnan(filled.back()));
}

TEST_P(MiniMaxM3Launches, KernelsHaveNamesOfTheirOwnAndFieldsWithinTheirArguments) {
  namespace m3 = step::minimax_m3;
  std::set<std::string> names;
  for (const device::Kernel* kernel :
       {&m3::norm_rope_kernel(), &m3::fused_norm_rope_insert_kernel(),
        &m3::reshape_and_cache_kernel(), &m3::index_key_write_kernel(), &m3::index_put_kernel(),
        &m3::indexer_score_kernel(), &m3::indexer_top_k_kernel(), &m3::sparse_attention_kernel(),
        &m3::dense_attention_kernel(), &m3::dense_attention_split_kernel(),
        &m3::dense_attention_combine_kernel(), &m3::mix_kernel(), &m3::draw_normal_kernel(),
        &m3::contiguous_kernel(), &m3::fill_float_kernel()}) {
    EXPECT_TRUE(names.insert(kernel->name).second) << kernel->name;
    std::size_t end = 0;
    for (const device::ArgumentFieldInfo& field : kernel->fields) {
      EXPECT_GE(field.offset, end) << kernel->name << ": " << field.name;
      end = field.offset + field.size;
      EXPECT_TRUE(!field.is_pointer || field.size == sizeof(void*));
    }
    EXPECT_LE(end, kernel->argument_bytes);
    EXPECT_LT(kernel->argument_bytes - end, 8U) << kernel->name << ": a field is not listed";
  }
}

}  // namespace graphsan::test
