#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kvcache/xxh3_core.hpp"
#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache::xxh3 {
namespace {

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random{seed};
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

struct BytesReader {
  const std::uint8_t* bytes;
  template <typename T>
  [[nodiscard]] T get(std::uint32_t offset) const {
    T value;
    std::memcpy(&value, bytes + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::uint8_t u8(std::uint32_t offset) const { return bytes[offset]; }
  [[nodiscard]] std::uint32_t u32(std::uint32_t offset) const { return get<std::uint32_t>(offset); }
  [[nodiscard]] std::uint64_t u64(std::uint32_t offset) const { return get<std::uint64_t>(offset); }
};

/// Where the lanes of a simulated warp, one thread each, meet to exchange values.
struct Meeting {
  std::barrier<> barrier{kWarpLanes};
  std::uint64_t values[kWarpLanes] = {};
};

class ThreadLane {
 public:
  ThreadLane(Meeting& meeting, std::uint32_t index) : meeting_{meeting}, index_{index} {}
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] std::uint64_t exchange(std::uint64_t value, std::uint32_t mask) const {
    meeting_.values[index_] = value;
    meeting_.barrier.arrive_and_wait();
    const std::uint64_t other = meeting_.values[index_ ^ mask];
    meeting_.barrier.arrive_and_wait();
    return other;
  }

 private:
  Meeting& meeting_;
  std::uint32_t index_;
};

template <typename Body>
void run_warp(const Body& body) {
  Meeting meeting;
  std::vector<std::jthread> threads;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    threads.emplace_back([&meeting, &body, lane] { body(ThreadLane{meeting, lane}); });
  }
}

Chunk chunk_at(const std::vector<std::uint8_t>& rows, std::uint32_t bytes, std::uint32_t row,
               std::uint32_t chunk) {
  if (chunk * kChunkBytes >= bytes) return {};
  const BytesReader read{rows.data() + row * bytes + chunk * kChunkBytes};
  return {read.u64(0), read.u64(8)};
}

/// Digests of one tile of rows of `bytes` bytes as the warp computes them; a row that no lane or
/// more than one lane writes fails the test.
template <std::uint32_t kSlot>
std::vector<std::uint64_t> tile_digests(const std::vector<std::uint8_t>& rows,
                                        std::uint32_t bytes) {
  using Shape = TileShape<kSlot>;
  std::vector<std::uint64_t> digests(Shape::kRows);
  std::vector<int> writers(Shape::kRows);
  std::mutex mutex;
  run_warp([&](const ThreadLane& lane) {
    Chunk chunks[kTileLoads];
    for (std::uint32_t j = 0; j < kTileLoads; ++j) {
      chunks[j] = chunk_at(rows, bytes, Shape::row(lane.index(), j), Shape::chunk(lane.index(), j));
    }
    const auto result = [&] {
      if constexpr (kSlot <= 128) {
        return hash_short_tile<kSlot>(lane, chunks);
      } else {
        return hash_long_tile<kSlot>(lane, bytes, chunks);
      }
    }();
    if (!result.writes) return;
    const std::lock_guard lock{mutex};
    for (std::uint32_t i = 0; i < result.count; ++i) {
      digests.at(result.first_row + i * result.row_step) = result.digests[i];
      ++writers.at(result.first_row + i * result.row_step);
    }
  });
  EXPECT_EQ(writers, std::vector<int>(Shape::kRows, 1)) << bytes << " bytes";
  return digests;
}

template <std::uint32_t kSlot>
void expect_tile_equals_libxxhash(std::uint32_t bytes) {
  const std::vector<std::uint8_t> rows = random_bytes(TileShape<kSlot>::kRows * bytes, bytes);
  const std::vector<std::uint64_t> digests = tile_digests<kSlot>(rows, bytes);
  for (std::uint32_t row = 0; row < digests.size(); ++row) {
    EXPECT_EQ(digests[row], XXH3_64bits(rows.data() + row * bytes, bytes))
        << "row " << row << " of " << bytes << " bytes";
  }
}

TEST(Xxh3Core, EqualsLibxxhashForEveryLength) {
  const std::vector<std::uint8_t> bytes = random_bytes(4096 + 8, 1);
  for (std::uint32_t length = 0; length <= 4096; ++length) {
    const std::uint8_t* start = bytes.data() + length % 8;
    EXPECT_EQ(hash(BytesReader{start}, length), XXH3_64bits(start, length)) << length;
  }
}

TEST(Xxh3Core, EqualsLibxxhashForBytesOfAllOnesAndAllZeros) {
  for (const int value : {0x00, 0xFF}) {
    const std::vector<std::uint8_t> bytes(2048, static_cast<std::uint8_t>(value));
    for (std::uint32_t length = 0; length <= 2048; ++length) {
      EXPECT_EQ(hash(BytesReader{bytes.data()}, length), XXH3_64bits(bytes.data(), length));
    }
  }
}

TEST(Xxh3Lanes, TilesOfShortRowsEqualLibxxhash) {
  expect_tile_equals_libxxhash<64>(64);
  expect_tile_equals_libxxhash<128>(128);
}

TEST(Xxh3Lanes, TilesOfLongRowsEqualLibxxhashWhetherOrNotTheyFillTheirSlot) {
  expect_tile_equals_libxxhash<256>(256);
  for (std::uint32_t bytes = 320; bytes <= 512; bytes += 64) {
    expect_tile_equals_libxxhash<512>(bytes);
  }
  for (std::uint32_t bytes = 576; bytes <= 1024; bytes += 64) {
    expect_tile_equals_libxxhash<1024>(bytes);
  }
}

TEST(Xxh3Lanes, OneRowByAWarpEqualsLibxxhash) {
  for (std::uint32_t bytes = 64; bytes <= 1024; bytes += 64) {
    const std::vector<std::uint8_t> row = random_bytes(bytes, bytes);
    std::vector<std::uint64_t> digests(kWarpLanes);
    run_warp([&](const ThreadLane& lane) {
      const Chunk chunks[2] = {chunk_at(row, bytes, 0, lane.index()),
                               chunk_at(row, bytes, 0, lane.index() + kWarpLanes)};
      digests[lane.index()] = hash_warp_row(lane, bytes, chunks);
    });
    const std::vector<std::uint64_t> expected(kWarpLanes, XXH3_64bits(row.data(), bytes));
    EXPECT_EQ(digests, expected) << bytes << " bytes";
  }
}

TEST(Xxh3Lanes, OneRowOfSeveralBlocksByAWarpEqualsLibxxhash) {
  for (std::uint32_t bytes = 1088; bytes <= 9216; bytes += bytes < 2304 ? 64 : 320) {
    const std::vector<std::uint8_t> row = random_bytes(bytes, bytes);
    std::vector<std::uint64_t> digests(kWarpLanes);
    run_warp([&](const ThreadLane& lane) {
      digests[lane.index()] = hash_warp_long_row(
          lane, bytes, [&](std::uint32_t byte) { return chunk_at(row, bytes, 0, byte / 16); });
    });
    const std::vector<std::uint64_t> expected(kWarpLanes, XXH3_64bits(row.data(), bytes));
    EXPECT_EQ(digests, expected) << bytes << " bytes";
  }
}

}  // namespace
}  // namespace graphsan::kvcache::xxh3
