#pragma once

#include <cstdint>

#include "kvcache/xxh3_core.hpp"

/// XXH3-64 of whole rows by the 32 lanes of a warp, each lane holding 16-byte chunks.
///
/// Up to 1024 bytes the eight accumulators are plain sums over the row's chunks, so chunks may be
/// held by any lanes in any order and are added up by exchanges: chunk c feeds accumulators
/// 2 (c % 4) and 2 (c % 4) + 1. Rows are multiples of 64 bytes.
///
/// `Lane` is one thread of the warp: `index()` is 0 to 31 and `exchange(value, mask)` gives the
/// value that lane `index() ^ mask` passed in the same call; all lanes call it together.
namespace graphsan::kvcache::xxh3 {

struct Chunk {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// What a lane's chunks add to the row: two accumulators (long rows), one sum (up to 128 bytes), or
/// the sums before and after the first avalanche (192 bytes).
struct Terms {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kChunkBytes = 16;
inline constexpr std::uint32_t kTileLoads = 8;  ///< chunks of a lane in one tile

/// Secret words of the long rows' stripes, by stripe plus word; then those of the last stripe, by
/// word, at the secret's odd offset kLastStripeSecret.
GRAPHSAN_HOST_DEVICE inline Chunk stripe_key(std::uint32_t index) {
  static constexpr std::uint64_t kWords[24 + 8] = {
      0xBE4BA423396CFEB8, 0x1CAD21F72C81017C, 0xDB979083E96DD4DE, 0x1F67B3B7A4A44072,
      0x78E5C0CC4EE679CB, 0x2172FFCC7DD05A82, 0x8E2443F7744608B8, 0x4C263A81E69035E0,
      0xCB00C391BB52283C, 0xA32E531B8B65D088, 0x4EF90DA297486471, 0xD8ACDEA946EF1938,
      0x3F349CE33F76FAA8, 0x1D4F0BC7C7BBDCF9, 0x3159B4CD4BE0518A, 0x647378D9C97E9FC8,
      0xC3EBD33483ACC5EA, 0xEB6313FAFFA081C5, 0x49DAF0B751DD0D17, 0x9E68D429265516D3,
      0xFCA1477D58BE162B, 0xCE31D07AD1B8F88F, 0x280416958F3ACB45, 0x7E404BBBCAFBD7AF,
      0xEA647378D9C97E9F, 0xC5C3EBD33483ACC5, 0x17EB6313FAFFA081, 0xD349DAF0B751DD0D,
      0x2B9E68D429265516, 0x8FFCA1477D58BE16, 0x45CE31D07AD1B8F8, 0xAF280416958F3ACB};
  return {kWords[index], kWords[index + 1]};
}

/// Secret words of one pair of accumulators in the final merge, at the odd offset kMergeSecret.
GRAPHSAN_HOST_DEVICE inline Chunk merge_key(std::uint32_t pair) {
  static constexpr std::uint64_t kWords[8] = {
      0x6DD4DE1CAD21F72C, 0xA44072DB979083E9, 0xE679CB1F67B3B7A4, 0xD05A8278E5C0CC4E,
      0x4608B82172FFCC7D, 0x9035E08E2443F774, 0x52283C4C263A81E6, 0x65D088CB00C391BB};
  return {kWords[2 * pair], kWords[2 * pair + 1]};
}

/// Secret words of chunk `chunk` of a long row of `bytes` bytes. A chunk of zeros under a key of
/// zeros adds nothing, which is how lanes beyond the row are left out.
GRAPHSAN_HOST_DEVICE inline Chunk long_key(std::uint32_t bytes, std::uint32_t chunk) {
  if (chunk * kChunkBytes >= bytes) return {};
  const std::uint32_t stripe = chunk / 4;
  const bool is_last = (stripe + 1) * kStripeBytes == bytes;
  return stripe_key((is_last ? 24 : stripe % 16) + chunk % 4 * 2);
}

/// Secret words of chunk `chunk` of a row of 64 or 128 bytes: pairs from both ends inwards.
GRAPHSAN_HOST_DEVICE inline Chunk short_key(std::uint32_t bytes, std::uint32_t chunk) {
  const std::uint32_t chunks = bytes / kChunkBytes;
  const std::uint32_t offset = chunk < chunks / 2 ? 32 * chunk : 32 * (chunks - 1 - chunk) + 16;
  return {secret64(offset), secret64(offset + 8)};
}

GRAPHSAN_HOST_DEVICE inline std::uint64_t short_term(const Chunk& data, const Chunk& key) {
  return fold64(data.low ^ key.low, data.high ^ key.high);
}

GRAPHSAN_HOST_DEVICE inline void add_long(const Chunk& data, const Chunk& key, Terms& terms) {
  terms.first += data.high + multiply_halves(data.low ^ key.low);
  terms.second += data.low + multiply_halves(data.high ^ key.high);
}

/// Terms of one chunk of a row of 192 bytes; its last chunk counts twice.
GRAPHSAN_HOST_DEVICE inline Terms medium_terms(const Chunk& data, std::uint32_t chunk) {
  if (chunk >= 12) return {};
  if (chunk < 8) return {mix16(data.low, data.high, kChunkBytes * chunk), 0};
  std::uint64_t after = mix16(data.low, data.high, kChunkBytes * (chunk - 8) + 3);
  if (chunk == 11) after += mix16(data.low, data.high, 136 - 17);
  return {0, after};
}

/// Starting accumulators of a pair of lanes' chunks.
GRAPHSAN_HOST_DEVICE inline Terms initial_terms(std::uint32_t pair) {
  return {initial_accumulator(2 * pair), initial_accumulator(2 * pair + 1)};
}

/// One pair's share of the final sum of a long row.
GRAPHSAN_HOST_DEVICE inline std::uint64_t merge_pair(const Terms& sums, std::uint32_t pair) {
  const Chunk key = merge_key(pair);
  return fold64(sums.first ^ key.low, sums.second ^ key.high);
}

template <typename Lane>
GRAPHSAN_HOST_DEVICE void add_exchanged(const Lane& lane, std::uint32_t mask,
                                        std::uint64_t& value) {
  value += lane.exchange(value, mask);
}

template <typename Lane>
GRAPHSAN_HOST_DEVICE void add_exchanged(const Lane& lane, std::uint32_t mask, Terms& terms) {
  terms.first += lane.exchange(terms.first, mask);
  terms.second += lane.exchange(terms.second, mask);
}

GRAPHSAN_HOST_DEVICE inline void swap_if(bool swap, std::uint64_t& a, std::uint64_t& b) {
  const std::uint64_t old = a;
  a = swap ? b : a;
  b = swap ? old : b;
}

GRAPHSAN_HOST_DEVICE inline void swap_if(bool swap, Terms& a, Terms& b) {
  swap_if(swap, a.first, b.first);
  swap_if(swap, a.second, b.second);
}

GRAPHSAN_HOST_DEVICE inline void add(std::uint64_t& a, std::uint64_t b) { a += b; }

GRAPHSAN_HOST_DEVICE inline void add(Terms& a, const Terms& b) {
  a.first += b.first;
  a.second += b.second;
}

template <typename Lane>
GRAPHSAN_HOST_DEVICE std::uint64_t exchanged(const Lane& lane, std::uint32_t mask,
                                             std::uint64_t value) {
  return lane.exchange(value, mask);
}

template <typename Lane>
GRAPHSAN_HOST_DEVICE Terms exchanged(const Lane& lane, std::uint32_t mask, const Terms& terms) {
  return {lane.exchange(terms.first, mask), lane.exchange(terms.second, mask)};
}

/// Adds `kCount` values across the two lanes that differ in `mask`, each lane keeping half of them:
/// the first half of `values` where the lane's bit is clear, the second half where it is set. They
/// end in the first half of `values`, and `group` grows by the number of values skipped.
template <std::uint32_t kCount, typename Value, typename Lane>
GRAPHSAN_HOST_DEVICE void share_sums(const Lane& lane, std::uint32_t mask, Value* values,
                                     std::uint32_t& group) {
  static_assert(kCount % 2 == 0);
  const bool upper = (lane.index() & mask) != 0;
  GRAPHSAN_UNROLL
  for (std::uint32_t i = 0; i < kCount / 2; ++i) {
    swap_if(upper, values[i], values[i + kCount / 2]);
    add(values[i], exchanged(lane, mask, values[i + kCount / 2]));
  }
  if (upper) group += kCount / 2;
}

/// How 8 chunks a lane cover consecutive rows of more than kSlot / 2 and at most kSlot bytes: load
/// j of lane l holds bytes `byte(l, j)` of the tile's row `row(l, j)`. Where a row fills its slot
/// and rows follow each other, each load of the warp is 512 consecutive bytes.
template <std::uint32_t kSlot>
struct TileShape {
  static constexpr std::uint32_t kLanesPerRow = kSlot < 512 ? kSlot / kChunkBytes : kWarpLanes;
  static constexpr std::uint32_t kLoadsPerRow = kSlot < 1024 ? 1 : kSlot / 512;
  static constexpr std::uint32_t kRowsPerLoad = kWarpLanes / kLanesPerRow;
  static constexpr std::uint32_t kGroups = kTileLoads / kLoadsPerRow;
  static constexpr std::uint32_t kRows = kGroups * kRowsPerLoad;

  GRAPHSAN_HOST_DEVICE static std::uint32_t row(std::uint32_t lane, std::uint32_t load) {
    return load / kLoadsPerRow * kRowsPerLoad + lane / kLanesPerRow;
  }
  GRAPHSAN_HOST_DEVICE static std::uint32_t chunk(std::uint32_t lane, std::uint32_t load) {
    return load % kLoadsPerRow * kWarpLanes + lane % kLanesPerRow;
  }
};

/// The digests that one lane holds after a tile: `digests[i]` is that of the tile's row
/// `first_row + i * row_step`. Of lanes that hold the same rows one has `writes` set.
template <std::uint32_t kCount>
struct TileDigests {
  static constexpr std::uint32_t count = kCount;
  std::uint64_t digests[kCount];
  std::uint32_t first_row;
  std::uint32_t row_step;
  bool writes;
};

/// Digests of a tile of rows of kSlot = 64 or 128 bytes.
template <std::uint32_t kSlot, typename Lane>
GRAPHSAN_HOST_DEVICE auto hash_short_tile(const Lane& lane, const Chunk (&chunks)[kTileLoads]) {
  using Shape = TileShape<kSlot>;
  const std::uint32_t lane_in_row = lane.index() % Shape::kLanesPerRow;
  const Chunk key = short_key(kSlot, lane_in_row);
  std::uint64_t sums[kTileLoads];
  GRAPHSAN_UNROLL
  for (std::uint32_t j = 0; j < kTileLoads; ++j) sums[j] = short_term(chunks[j], key);

  std::uint32_t group = 0;
  share_sums<8>(lane, 1, sums, group);
  share_sums<4>(lane, 2, sums, group);
  if constexpr (kSlot == 128) share_sums<2>(lane, 4, sums, group);

  TileDigests<kSlot == 128 ? 1 : 2> result;
  GRAPHSAN_UNROLL
  for (std::uint32_t i = 0; i < result.count; ++i) {
    result.digests[i] = avalanche(sums[i] + kSlot * kPrime64_1);
  }
  result.first_row = group * Shape::kRowsPerLoad + lane.index() / Shape::kLanesPerRow;
  result.row_step = Shape::kRowsPerLoad;
  result.writes = true;
  return result;
}

/// Adds up each row's terms over the lanes that hold its stripes; a lane keeps one row in four
/// (256-byte slots) or one, and `group` says which of the tile's groups it is.
template <std::uint32_t kSlot, typename Lane>
GRAPHSAN_HOST_DEVICE void share_stripes(const Lane& lane, Terms* terms, std::uint32_t& group) {
  if constexpr (kSlot == 256) {
    share_sums<8>(lane, 4, terms, group);
    share_sums<4>(lane, 8, terms, group);
  } else if constexpr (kSlot == 512) {
    share_sums<8>(lane, 4, terms, group);
    share_sums<4>(lane, 8, terms, group);
    share_sums<2>(lane, 16, terms, group);
  } else {
    share_sums<4>(lane, 4, terms, group);
    share_sums<2>(lane, 8, terms, group);
    add(terms[0], exchanged(lane, 16, terms[0]));
  }
}

/// Digests of a tile of rows of `bytes` bytes, more than 240 and more than kSlot / 2, at most
/// kSlot = 256, 512 or 1024. Chunks beyond the end of a row are zero.
template <std::uint32_t kSlot, typename Lane>
GRAPHSAN_HOST_DEVICE TileDigests<1> hash_long_tile(const Lane& lane, std::uint32_t bytes,
                                                   const Chunk (&chunks)[kTileLoads]) {
  using Shape = TileShape<kSlot>;
  const std::uint32_t pair = lane.index() % 4;
  Chunk keys[Shape::kLoadsPerRow];
  GRAPHSAN_UNROLL
  for (std::uint32_t j = 0; j < Shape::kLoadsPerRow; ++j) {
    keys[j] = long_key(bytes, Shape::chunk(lane.index(), j));
  }
  Terms terms[Shape::kGroups];
  GRAPHSAN_UNROLL
  for (std::uint32_t j = 0; j < kTileLoads; ++j) {
    add_long(chunks[j], keys[j % Shape::kLoadsPerRow], terms[j / Shape::kLoadsPerRow]);
  }
  std::uint32_t group = 0;
  share_stripes<kSlot>(lane, terms, group);

  const Terms initial = initial_terms(pair);
  constexpr std::uint32_t kLeft = kSlot == 256 ? 2 : 1;
  std::uint64_t sums[kLeft];
  GRAPHSAN_UNROLL
  for (std::uint32_t i = 0; i < kLeft; ++i) {
    add(terms[i], initial);
    sums[i] = merge_pair(terms[i], pair);
  }
  if constexpr (kLeft == 2) {
    share_sums<2>(lane, 1, sums, group);
  } else {
    sums[0] += lane.exchange(sums[0], 1);
  }
  sums[0] += lane.exchange(sums[0], 2);
  constexpr std::uint32_t kCopies = kSlot == 256 ? 2 : kSlot == 512 ? 3 : 3 + 16;
  return {{avalanche(sums[0] + bytes * kPrime64_1)},
          group * Shape::kRowsPerLoad + lane.index() / Shape::kLanesPerRow,
          1,
          (lane.index() & kCopies) == 0};
}

/// Adds a value up over lanes 4 to 16 apart: over the stripes of a row that a whole warp holds.
template <typename Lane>
GRAPHSAN_HOST_DEVICE void sum_stripes(const Lane& lane, Terms& terms) {
  add(terms, exchanged(lane, 4, terms));
  add(terms, exchanged(lane, 8, terms));
  add(terms, exchanged(lane, 16, terms));
}

/// Digest, in every lane, of one row of at most 1024 bytes held by the whole warp: chunk
/// `32 j + lane` is `chunks[j]`, zero beyond the row's end.
template <typename Lane>
GRAPHSAN_HOST_DEVICE std::uint64_t hash_warp_row(const Lane& lane, std::uint32_t bytes,
                                                 const Chunk (&chunks)[2]) {
  const std::uint32_t pair = lane.index() % 4;
  Terms terms;
  if (bytes <= 128) {
    if (lane.index() * kChunkBytes < bytes) {
      terms.first = short_term(chunks[0], short_key(bytes, lane.index()));
    }
  } else if (bytes <= 240) {
    terms = medium_terms(chunks[0], lane.index());
  } else {
    add_long(chunks[0], long_key(bytes, lane.index()), terms);
    add_long(chunks[1], long_key(bytes, lane.index() + kWarpLanes), terms);
  }
  sum_stripes(lane, terms);
  if (bytes > 240) {
    add(terms, initial_terms(pair));
    terms = {merge_pair(terms, pair), 0};
  }
  add(terms, exchanged(lane, 1, terms));
  add(terms, exchanged(lane, 2, terms));
  const std::uint64_t hash = avalanche(terms.first + bytes * kPrime64_1);
  return bytes > 128 && bytes <= 240 ? avalanche(hash + terms.second) : hash;
}

/// Digest, in every lane, of one row of more than 1024 bytes, by the whole warp. `load(byte)` gives
/// the 16 bytes at a multiple of 16; it is called for bytes inside the row only.
template <typename Lane, typename Load>
GRAPHSAN_HOST_DEVICE std::uint64_t hash_warp_long_row(const Lane& lane, std::uint32_t bytes,
                                                      const Load& load) {
  const std::uint32_t pair = lane.index() % 4;
  Terms sums = initial_terms(pair);
  for (std::uint32_t tile = 0; tile < bytes; tile += 4 * kBlockBytes) {
    Chunk chunks[kTileLoads];
    GRAPHSAN_UNROLL
    for (std::uint32_t j = 0; j < kTileLoads; ++j) {
      const std::uint32_t byte = tile + (j * kWarpLanes + lane.index()) * kChunkBytes;
      if (byte < bytes) chunks[j] = load(byte);
    }
    GRAPHSAN_UNROLL
    for (std::uint32_t j = 0; j < kTileLoads; j += 2) {
      const std::uint32_t block = tile + j * (kBlockBytes / 2);
      if (block >= bytes) break;
      const std::uint32_t chunk = block / kChunkBytes + lane.index();
      Terms terms;
      add_long(chunks[j], long_key(bytes, chunk), terms);
      add_long(chunks[j + 1], long_key(bytes, chunk + kWarpLanes), terms);
      sum_stripes(lane, terms);
      add(sums, terms);
      if (block + kBlockBytes < bytes) {
        sums = {scramble(sums.first, 2 * pair), scramble(sums.second, 2 * pair + 1)};
      }
    }
  }
  Terms merged = {merge_pair(sums, pair), 0};
  add(merged, exchanged(lane, 1, merged));
  add(merged, exchanged(lane, 2, merged));
  return avalanche(merged.first + bytes * kPrime64_1);
}

}  // namespace graphsan::kvcache::xxh3
