#pragma once

#include "kvcache/row_compare.hpp"
#include "tests/support/kvcache_contract.hpp"

namespace graphsan::test {

using kvcache::CacheSet;
using kvcache::DigestTable;

inline std::vector<model::CacheLayout> every_row_length(std::int64_t first, std::int64_t last) {
  std::vector<model::CacheLayout> layouts;
  for (std::int64_t bytes = first; bytes <= last; ++bytes) {
    layouts.push_back(make_layout({.heads = 1, .run_bytes = bytes}, Arrangement::kNhd));
  }
  return layouts;
}

/// Shapes whose rows take each of the CUDA paths, with pages that tiles do and do not cross.
inline std::vector<Shape> many_shapes() {
  std::vector<Shape> shapes;
  for (const std::int64_t page_size : {1, 5, 16, 64}) {
    for (const std::int64_t heads : {1, 2, 3, 8}) {
      for (const std::int64_t run_bytes : {4, 24, 48, 64, 80, 128, 192, 256, 656}) {
        shapes.push_back({.pages = 200 / page_size + 1,
                          .page_size = page_size,
                          .heads = heads,
                          .run_bytes = run_bytes});
      }
    }
  }
  return shapes;
}

inline std::vector<model::CacheLayout> layouts_of(const std::vector<Shape>& shapes,
                                                  Arrangement arrangement) {
  std::vector<model::CacheLayout> layouts;
  for (const Shape& shape : shapes) layouts.push_back(make_layout(shape, arrangement));
  return layouts;
}

TEST_P(KvCacheContract, DigestEqualsLibxxhashForEveryRowLength) {
  const CacheSet caches = make_caches(every_row_length(1, 2048), 1);
  EXPECT_EQ(first_wrong_digest(caches, hash(caches)), "");
}

TEST_P(KvCacheContract, DigestEqualsLibxxhashForRowsOfSeveralBlocks) {
  std::vector<model::CacheLayout> layouts;
  for (const std::int64_t bytes : {2112, 3072, 4096, 4160, 5000, 8192, 10240, 65536}) {
    layouts.push_back(
        make_layout({.pages = 2, .page_size = 5, .run_bytes = bytes}, Arrangement::kNhd));
  }
  const CacheSet caches = make_caches(std::move(layouts), 2);
  EXPECT_EQ(first_wrong_digest(caches, hash(caches)), "");
}

TEST_P(KvCacheContract, DigestEqualsLibxxhashAtEveryMisalignmentOfTheBase) {
  for (std::size_t misalignment = 1; misalignment <= 16; ++misalignment) {
    std::vector<model::CacheLayout> layouts;
    for (const std::int64_t bytes : {3, 16, 64, 128, 192, 256, 512, 1024, 2048}) {
      layouts.push_back(make_layout({.run_bytes = bytes}, Arrangement::kNhd));
    }
    const CacheSet caches = make_caches(std::move(layouts), 3, misalignment);
    EXPECT_EQ(first_wrong_digest(caches, hash(caches)), "") << "base + " << misalignment;
  }
}

TEST_P(KvCacheContract, DigestDependsOnTheLogicalBytesAndNotOnWhereTheyLie) {
  const CacheSet nhd = make_caches(layouts_of(many_shapes(), Arrangement::kNhd), 4);
  const CacheSet hnd = make_caches(layouts_of(many_shapes(), Arrangement::kHnd), 4);
  const CacheSet interleaved = make_caches(layouts_of(many_shapes(), Arrangement::kInterleaved), 4);
  const std::vector<model::Digest> digests = hash(nhd);
  EXPECT_EQ(first_wrong_digest(nhd, digests), "");
  EXPECT_EQ(first_wrong_digest(hnd, hash(hnd)), "");
  EXPECT_EQ(hash(hnd), digests);
  EXPECT_EQ(hash(interleaved), digests);
}

TEST_P(KvCacheContract, HashesNothingWhereThereAreNoRows) {
  const CacheSet none{device(), stream(), {}};
  EXPECT_TRUE(hash(none).empty());
  const CacheSet caches = make_caches({make_layout({.pages = 0}, Arrangement::kNhd),
                                       make_layout({.pages = 2, .page_size = 3}, Arrangement::kNhd),
                                       make_layout({.pages = 0}, Arrangement::kNhd)},
                                      5);
  EXPECT_EQ(caches.cache_of(0), 1);
  EXPECT_EQ(first_wrong_digest(caches, hash(caches)), "");
}

TEST_P(KvCacheContract, ListedRowsGetTheDigestsOfTheFullPassWhateverTheirLayout) {
  const CacheSet caches = make_caches(layouts_of(many_shapes(), Arrangement::kHnd), 6);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(caches.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  std::shuffle(rows.begin(), rows.end(), std::mt19937{6});
  const device::Buffer list = upload(rows);
  DigestTable table{device(), caches.rows()};
  device().fill(stream(), table.data(), 0, rows.size() * sizeof(std::uint64_t));
  kvcache::hash_rows(stream(), caches, list.as<const std::int64_t>(), caches.rows(), table);
  EXPECT_EQ(first_wrong_digest(caches, kvcache::download(device(), stream(), table)), "");
}

TEST_P(KvCacheContract, ListedRowsAloneAreUpdatedAndEntriesThatNameNoRowAreSkipped) {
  const CacheSet caches = make_caches(every_row_length(100, 300), 7);
  DigestTable table{device(), caches.rows()};
  kvcache::hash_all(stream(), caches, table);
  std::vector<model::Digest> expected = kvcache::download(device(), stream(), table);
  for (const std::int64_t row : {17L, 18L, 40L, 5000L, 5001L}) flip_byte(caches, row);
  const std::vector<std::int64_t> rows = {5000, -1, 18, caches.rows(), -7, 40, INT64_MIN};
  const device::Buffer list = upload(rows);
  kvcache::hash_rows(stream(), caches, list.as<const std::int64_t>(),
                     static_cast<std::int64_t>(rows.size()), table);

  const std::vector<model::Digest> now = digests_of(logical_rows(caches));
  for (const std::size_t row : {18U, 40U, 5000U}) {
    EXPECT_NE(expected[row], now[row]);
    expected[row] = now[row];
  }
  EXPECT_EQ(kvcache::download(device(), stream(), table), expected);
}

TEST_P(KvCacheContract, PageAndCacheDigestsAreHashesOfDigests) {
  const CacheSet caches =
      make_caches({make_layout({.pages = 4, .page_size = 16}, Arrangement::kNhd)}, 8);
  const std::vector<model::Digest> digests = hash(caches);
  std::vector<model::Digest> pages;
  for (std::size_t page = 0; page < 4; ++page) {
    unsigned char words[16 * 8];
    for (std::size_t slot = 0; slot < 16; ++slot) {
      for (std::size_t byte = 0; byte < 8; ++byte) {
        words[slot * 8 + byte] =
            static_cast<unsigned char>(digests[page * 16 + slot].value >> (8 * byte));
      }
    }
    pages.push_back({XXH3_64bits(words, sizeof(words))});
  }
  EXPECT_EQ(kvcache::page_digests(digests, 16), pages);
  EXPECT_EQ(kvcache::cache_digest(pages).value,
            XXH3_64bits(pages.data(), pages.size() * sizeof(std::uint64_t)));
  EXPECT_THROW(static_cast<void>(kvcache::page_digests(digests, 15)), std::invalid_argument);
}

TEST_P(KvCacheContract, NotesSayWhichCachesAreHashedSlowlyAndWhy) {
  EXPECT_TRUE(kvcache::slow_path_notes(
                  make_caches({make_layout({.run_bytes = 64}, Arrangement::kNhd),
                               make_layout({.heads = 4, .run_bytes = 32}, Arrangement::kNhd),
                               make_layout({.heads = 4, .run_bytes = 128}, Arrangement::kHnd)},
                              9))
                  .empty());
  const CacheSet slow = make_caches({make_layout({.heads = 4, .run_bytes = 32}, Arrangement::kHnd),
                                     make_layout({.run_bytes = 656}, Arrangement::kNhd)},
                                    9);
  EXPECT_EQ(kvcache::slow_path_notes(slow),
            (std::vector<std::string>{
                "cache of 4 runs of 32 bytes: runs of 32 bytes are shorter than 64 bytes",
                "cache of 1 runs of 656 bytes: runs of 656 bytes are not a multiple of 64 bytes"}));
  const CacheSet unaligned = make_caches({make_layout({}, Arrangement::kNhd)}, 9, 8);
  EXPECT_EQ(
      kvcache::slow_path_notes(unaligned),
      (std::vector<std::string>{"cache of 1 runs of 128 bytes: runs are not 16-byte aligned"}));
}

TEST_P(KvCacheContract, RefusesTablesOfAnotherSizeAndLayoutsThatCannotBe) {
  const CacheSet caches = make_caches({make_layout({}, Arrangement::kNhd)}, 10);
  DigestTable other{device(), caches.rows() + 1};
  EXPECT_THROW(kvcache::hash_all(stream(), caches, other), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(caches.cache_of(caches.rows())), std::out_of_range);
  model::CacheLayout layout = make_layout({}, Arrangement::kNhd);
  layout.heads = 0;
  EXPECT_THROW((CacheSet{device(), stream(), {{layout, caches.views()[0].base}}}),
               std::invalid_argument);
}

TEST_P(KvCacheContract, FindsExactlyTheRowsThatDiffer) {
  // More rows than the table's own scratch can list, so that "all" takes the second round.
  const CacheSet caches = make_caches(
      {make_layout({.pages = 700, .page_size = 16, .run_bytes = 64}, Arrangement::kNhd)}, 11);
  const std::int64_t rows = caches.rows();
  ASSERT_GT(rows, DigestTable::kScratchRows);
  DigestTable before{device(), rows};
  DigestTable after{device(), rows};
  kvcache::hash_all(stream(), caches, before);

  std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const std::vector<std::int64_t> many = {0, 1, 2, 31, 32, 255, 256, 2047, 2048, 6000, rows - 1};
  for (const auto& planted : {std::vector<std::int64_t>{}, {rows / 2}, many, all}) {
    std::vector<std::uint64_t> words(all.size());
    device().copy(stream(), words.data(), before.data(), words.size() * sizeof(std::uint64_t));
    device().synchronize(stream());
    for (const std::int64_t row : planted) words[static_cast<std::size_t>(row)] ^= 1ULL << row % 64;
    device().copy(stream(), after.data(), words.data(), words.size() * sizeof(std::uint64_t));
    device().synchronize(stream());
    EXPECT_EQ(kvcache::differing_rows(device(), stream(), before, after), planted);
  }
  const DigestTable shorter{device(), rows - 1};
  EXPECT_THROW(static_cast<void>(kvcache::differing_rows(device(), stream(), before, shorter)),
               std::invalid_argument);
}

}  // namespace graphsan::test
