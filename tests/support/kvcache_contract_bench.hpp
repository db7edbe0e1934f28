#pragma once

#include "kvcache/hash_bench.hpp"
#include "tests/support/kvcache_contract.hpp"

namespace graphsan::test {

TEST_P(KvCacheContract, BenchmarkMeasuresEveryRowSizeAgainstAPlainRead) {
  const kvcache::HashBenchResult result =
      kvcache::bench_hash(device(), {.bytes = std::int64_t{16} << 20, .repeats = 3});
  EXPECT_EQ(result.bytes, std::int64_t{16} << 20);
  EXPECT_GT(result.plain_read_gigabytes_per_second, 0);
  EXPECT_FALSE(result.plain_read.empty());
  std::vector<std::int64_t> sizes;
  for (const kvcache::HashRate& rate : result.rates) {
    sizes.push_back(rate.row_bytes);
    EXPECT_NEAR(rate.of_plain_read,
                rate.gigabytes_per_second / result.plain_read_gigabytes_per_second, 1e-9);
    EXPECT_GT(rate.gigabytes_per_second, 0);
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{128, 256, 512, 1024, 512}));
  EXPECT_EQ(result.rates.back().layout, "hnd");
  EXPECT_EQ(result.incremental.tokens, 64);
  EXPECT_EQ(result.incremental.caches, 180);
  EXPECT_GT(result.incremental.of_empty_launch, 0);
  EXPECT_THROW(static_cast<void>(kvcache::bench_hash(device(), {.repeats = 0})),
               std::invalid_argument);
}

}  // namespace graphsan::test
