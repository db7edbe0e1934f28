#pragma once

#include <set>

#include "kvcache/guarded_buffer.hpp"
#include "kvcache/row_compare.hpp"
#include "kvcache/row_pack.hpp"
#include "tests/support/kvcache_contract.hpp"

namespace graphsan::test {

/// Caches of several row sizes in which every third row is named, the last one first.
inline std::vector<std::int64_t> every_third_row(const kvcache::CacheSet& caches) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = caches.rows() - 1; row >= 0; row -= 3) rows.push_back(row);
  return rows;
}

inline std::vector<model::CacheLayout> mixed_layouts(Arrangement arrangement) {
  std::vector<model::CacheLayout> layouts;
  for (const std::int64_t run_bytes : {1, 8, 36, 64, 128, 656}) {
    for (const std::int64_t heads : {1, 4}) {
      layouts.push_back(make_layout({.heads = heads, .run_bytes = run_bytes}, arrangement));
    }
  }
  return layouts;
}

TEST_P(KvCacheContract, PackedRowsAreTheLogicalBytesInTheOrderNamed) {
  const kvcache::CacheSet caches = make_caches(mixed_layouts(Arrangement::kHnd), 21);
  const std::vector<std::int64_t> rows = every_third_row(caches);
  const kvcache::RowPack pack = kvcache::pack_rows(stream(), caches, rows);
  const std::vector<std::vector<std::byte>> bytes = kvcache::download(stream(), caches, pack);
  const std::vector<std::vector<std::byte>> logical = logical_rows(caches);
  ASSERT_EQ(bytes.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(bytes[i], logical[static_cast<std::size_t>(rows[i])]) << "row " << rows[i];
  }
}

TEST_P(KvCacheContract, UnpackedRowsAreRestoredAndOthersLeftAlone) {
  const kvcache::CacheSet source = make_caches(mixed_layouts(Arrangement::kNhd), 22);
  const kvcache::CacheSet target = make_caches(mixed_layouts(Arrangement::kHnd), 23);
  const std::vector<std::int64_t> rows = every_third_row(source);
  std::vector<std::vector<std::byte>> expected = logical_rows(target);
  const std::vector<std::vector<std::byte>> wanted = logical_rows(source);
  for (const std::int64_t row : rows) {
    expected[static_cast<std::size_t>(row)] = wanted[static_cast<std::size_t>(row)];
  }
  const kvcache::RowPack pack = kvcache::pack_rows(stream(), source, rows);
  kvcache::unpack_rows(stream(), target, pack);
  device().synchronize(stream());
  EXPECT_EQ(logical_rows(target), expected);
}

TEST_P(KvCacheContract, CopiedRowsAreEqualAndOthersLeftAlone) {
  const kvcache::CacheSet from = make_caches(mixed_layouts(Arrangement::kNhd), 24);
  const kvcache::CacheSet to = make_caches(mixed_layouts(Arrangement::kInterleaved), 25);
  const std::vector<std::int64_t> rows = every_third_row(from);
  std::vector<std::vector<std::byte>> expected = logical_rows(to);
  const std::vector<std::vector<std::byte>> wanted = logical_rows(from);
  for (const std::int64_t row : rows) {
    expected[static_cast<std::size_t>(row)] = wanted[static_cast<std::size_t>(row)];
  }
  kvcache::copy_rows(stream(), from, to, rows);
  EXPECT_EQ(logical_rows(to), expected);
}

TEST_P(KvCacheContract, PatternWrittenIsThePatternOfThePureFunction) {
  const kvcache::CacheSet caches = make_caches(mixed_layouts(Arrangement::kHnd), 26);
  const std::vector<std::int64_t> rows = every_third_row(caches);
  std::vector<std::vector<std::byte>> expected = logical_rows(caches);
  for (const std::int64_t row : rows) {
    std::vector<std::byte>& bytes = expected[static_cast<std::size_t>(row)];
    bytes = kvcache::pattern_bytes(row, bytes.size(), 99);
  }
  kvcache::fill_pattern(stream(), caches, rows, 99);
  EXPECT_EQ(logical_rows(caches), expected);
}

TEST_P(KvCacheContract, RefusesRowsThatAreNotThereAndCachesOfAnotherShape) {
  const kvcache::CacheSet caches = make_caches({make_layout({}, Arrangement::kNhd)}, 27);
  const kvcache::CacheSet other =
      make_caches({make_layout({.run_bytes = 64}, Arrangement::kNhd)}, 27);
  const std::vector<std::int64_t> beyond = {0, caches.rows()};
  const std::vector<std::int64_t> negative = {-1};
  EXPECT_THROW(static_cast<void>(kvcache::pack_rows(stream(), caches, beyond)), std::out_of_range);
  EXPECT_THROW(kvcache::fill_pattern(stream(), caches, negative, 1), std::out_of_range);
  EXPECT_THROW(kvcache::copy_rows(stream(), caches, other, {}), std::invalid_argument);
  const kvcache::RowPack pack = kvcache::pack_rows(stream(), caches, {1});
  EXPECT_THROW(kvcache::unpack_rows(stream(), other, pack), std::invalid_argument);
}

TEST_P(KvCacheContract, AnEmptyListOfRowsDoesNothing) {
  const kvcache::CacheSet caches = make_caches({make_layout({}, Arrangement::kNhd)}, 28);
  const std::vector<std::vector<std::byte>> before = logical_rows(caches);
  const kvcache::RowPack pack = kvcache::pack_rows(stream(), caches, {});
  kvcache::unpack_rows(stream(), caches, pack);
  kvcache::fill_pattern(stream(), caches, {}, 1);
  kvcache::copy_rows(stream(), caches, caches, {});
  EXPECT_TRUE(kvcache::download(stream(), caches, pack).empty());
  EXPECT_EQ(logical_rows(caches), before);
}

TEST_P(KvCacheContract, GuardZonesShowAWriteOneByteBeforeAndOneByteAfter) {
  constexpr std::size_t kBytes = 1000;
  kvcache::GuardedBuffer buffer{device(), stream(), kBytes, "pool"};
  const kvcache::CacheSet guards{device(), stream(), buffer.guard_views()};
  ASSERT_EQ(guards.rows(), 2 * 32);
  kvcache::DigestTable clean{device(), guards.rows()};
  kvcache::DigestTable now{device(), guards.rows()};
  kvcache::hash_all(stream(), guards, clean);

  auto* const data = static_cast<std::byte*>(buffer.data());
  const auto changed_after = [&](std::byte* start, std::size_t bytes) {
    device().fill(stream(), start, 0x11, bytes);
    kvcache::hash_all(stream(), guards, now);
    std::vector<std::int64_t> rows = kvcache::differing_rows(device(), stream(), clean, now);
    buffer.reset(stream());
    return rows;
  };
  using Rows = std::vector<std::int64_t>;
  EXPECT_EQ(changed_after(data, kBytes), Rows{});
  EXPECT_EQ(changed_after(data - 1, 1), Rows{31});
  EXPECT_EQ(changed_after(data + kBytes, 1), Rows{32});
  EXPECT_EQ(changed_after(data - 129, 2), (Rows{30, 31}));
  EXPECT_EQ(changed_after(data, 1), Rows{});
}

TEST_P(KvCacheContract, GuardedMemoryIsZeroAndItsZonesAreNamed) {
  kvcache::GuardedBuffer buffer{device(), stream(), 300, "index-K"};
  std::vector<std::byte> bytes(300, std::byte{1});
  device().copy(stream(), bytes.data(), buffer.data(), bytes.size());
  device().synchronize(stream());
  EXPECT_EQ(bytes, std::vector<std::byte>(300));
  const std::vector<kvcache::CacheView> views = buffer.guard_views();
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].layout.name, "index-K, guard before");
  EXPECT_EQ(views[1].layout.name, "index-K, guard after");
  EXPECT_EQ(views[0].layout.kind, model::CacheKind::kGuard);
}

}  // namespace graphsan::test
