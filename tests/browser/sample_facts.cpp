#include "sample_facts.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "sample_graph.hpp"

namespace graphsan::test {
namespace {

using namespace graphsan::model;

constexpr std::int64_t kHistory = 4094;  ///< two slots before a block's end
constexpr std::int64_t kBlocksPerSequence = 33;
constexpr int kNeedle = 7;

/// A small deterministic generator, so that every build writes the same pages.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_{seed * 0x9E3779B97F4A7C15ULL + 1} {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state_ >> 33U);
  }
  /// Roughly normal.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += next() / 2147483648.0;
    return sum - 6.0;
  }

 private:
  std::uint64_t state_;
};

std::vector<std::byte> row_bytes(const CacheLayout& cache, std::uint64_t seed) {
  Draw draw{seed};
  std::vector<std::byte> bytes;
  const auto size = static_cast<std::size_t>(cache.row_bytes());
  while (bytes.size() < size) {
    const auto value = static_cast<float>(draw.normal());
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    if (cache.dtype == DType::kBf16) {
      bytes.push_back(static_cast<std::byte>(bits >> 16U));
      bytes.push_back(static_cast<std::byte>(bits >> 24U));
    } else {
      bytes.push_back(static_cast<std::byte>((bits >> 24U & 0x80U) | (0x34U + draw.next() % 10U)));
    }
  }
  return bytes;
}

std::vector<std::byte> pattern_bytes(const CacheLayout& cache, std::int64_t row) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(cache.row_bytes()));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(0x11U + (static_cast<std::size_t>(row) * 7 + i * 13) % 96);
  }
  return bytes;
}

Digest digest_of(const std::vector<std::byte>& bytes) {
  return Digest{XXH3_64bits(bytes.data(), bytes.size())};
}

CacheLayout cache_of(int layer, CacheKind kind, DType dtype) {
  CacheLayout cache;
  cache.name = "layer " + std::to_string(layer) + " " + std::string{to_string(kind)};
  cache.kind = kind;
  cache.layer = layer;
  cache.dtype = dtype;
  cache.pages = kPages;
  cache.page_size = kPageSize;
  cache.heads = 1;
  cache.dim = 128;
  cache.head_stride = cache.run_bytes();
  cache.slot_stride = cache.row_bytes();
  cache.page_stride = cache.slot_stride * kPageSize;
  cache.sinks = {{0, kPageSize}};
  return cache;
}

std::vector<std::int64_t> rows_of_step(int step) {
  std::vector<std::int64_t> rows;
  for (int lane = 0; lane < kTokens; ++lane) rows.push_back(sample_row(lane, kHistory + step));
  std::sort(rows.begin(), rows.end());
  return rows;
}

StepFacts step_of(int step, int bucket, int nodes) {
  StepFacts facts;
  facts.step = step;
  facts.batch = "decode";
  facts.tokens = kTokens;
  facts.bucket = bucket;
  facts.covered = true;
  for (int lane = 0; lane < bucket; ++lane) {
    const bool real = lane < kTokens;
    const std::int64_t slot = real ? sample_row(lane, kHistory + step) : -1;
    facts.lanes.push_back({real, real ? lane : -1, real ? kHistory + step : -1, slot, slot});
  }
  facts.input_digest = XXH3_64bits(&step, sizeof step);
  facts.replayed_nodes = nodes;
  facts.nonce_overwritten = true;
  return facts;
}

void add_missing(Facts& facts, int step, int cache, int lane) {
  const CacheLayout& layout = facts.caches[static_cast<std::size_t>(cache)];
  RowDifference row;
  row.step = step;
  row.cache = cache;
  row.row = sample_row(lane, kHistory + step);
  row.row_class = RowClass::kMissing;
  row.origin.kind = OriginKind::kUntouched;
  row.owner = LogicalRow{lane, kHistory + step, layout.layer, layout.kind};
  row.lane = lane;
  row.eager_bytes = row_bytes(layout, static_cast<std::uint64_t>(row.row * 8 + cache));
  row.graph_bytes = pattern_bytes(layout, row.row);
  row.eager = digest_of(row.eager_bytes);
  row.graph = digest_of(row.graph_bytes);
  facts.rows.push_back(row);
}

void add_stray(Facts& facts, int step, int cache) {
  const CacheLayout& layout = facts.caches[static_cast<std::size_t>(cache)];
  RowDifference row;
  row.step = step;
  row.cache = cache;
  row.row = kLastRow;
  row.row_class = RowClass::kStray;
  row.origin.kind = OriginKind::kPadLane;
  row.origin.lane = kBucket - 1;
  row.places = {Place::kLastRow, Place::kLiveRow};
  row.owner = LogicalRow{0, 12 * kPageSize + kPageSize - 1, layout.layer, layout.kind};
  row.padded_eager_shows_it = true;
  row.eager_bytes = row_bytes(layout, 4711);
  row.graph_bytes = row_bytes(layout, static_cast<std::uint64_t>(900 + step));
  row.eager = digest_of(row.eager_bytes);
  row.graph = digest_of(row.graph_bytes);
  row.value = {ValueKind::kArbitrary, 0.0, 30211, 128};
  facts.rows.push_back(row);
}

void add_step(Facts& facts, int step, Damage damage) {
  for (int cache = 0; cache < static_cast<int>(facts.caches.size()); ++cache) {
    const bool index_key =
        facts.caches[static_cast<std::size_t>(cache)].kind == CacheKind::kIndexKey;
    WriteSets writes;
    writes.step = step;
    writes.cache = cache;
    writes.expected = writes.eager = writes.padded_eager = rows_of_step(step);
    if (damage != Damage::kElided) writes.graph = writes.eager;
    if (damage == Damage::kPadding && index_key) {
      writes.graph.push_back(kLastRow);
      writes.padded_eager.push_back(kLastRow);
      add_stray(facts, step, cache);
    }
    for (int lane = 0; lane < kTokens && damage == Damage::kElided; ++lane) {
      add_missing(facts, step, cache, lane);
    }
    facts.writes.push_back(writes);
  }
}

void add_consequences(Facts& facts) {
  for (int lane = 0; lane < 2; ++lane) {
    TopKDifference top;
    top.step = 3;
    top.layer = 1;
    top.lane = lane;
    top.carried = true;
    top.eager_ids = {2, 3, 5, kNeedle, 8, 11, 12, 14, 17, 19, 20, 23, 26, 28, 30, 32};
    top.graph_ids = {0, 2, 3, 5, 8, 11, 12, 14, 17, 19, 20, 23, 26, 28, 30, 32};
    top.only_eager = {kNeedle};
    top.only_graph = {0};
    top.eager_scores = {18.4375F, 2.125F};
    top.graph_scores = {0.0F, 0.0F};
    top.margin = 16.3125F;
    top.reproduced_from_graph_cache = true;
    facts.top_k.push_back(top);
    facts.outputs.push_back({3, 1, lane, true, 1.84, 0.413 + 0.02 * lane, 15820, false, true});
  }
  facts.chain = {
      {ChainStage::kIndexKeyWrite, true, true, 0, 1, "3 of 3 rows missing: pages 32, 65, 98"},
      {ChainStage::kKeyValueWrite, true, false, 0, 0, "3 of 3 rows missing in each step"},
      {ChainStage::kScore, true, false, 2, 1, "scores of block 7 are 0, eager's 18.44"},
      {ChainStage::kTopK, true, false, 3, 1, "2 selections lose block 7"},
      {ChainStage::kBlocksRead, true, false, 3, 1, "block 0 is read instead"},
      {ChainStage::kOutput, true, false, 3, 1, "2 lanes, mean relative 42 %"},
      {ChainStage::kNextLayer, false, false, -1, -1, "no layer follows"}};
}

void add_whole_chain(Facts& facts) {
  for (const ChainStage stage : {ChainStage::kIndexKeyWrite, ChainStage::kScore, ChainStage::kTopK,
                                 ChainStage::kBlocksRead, ChainStage::kOutput}) {
    facts.chain.push_back({stage, false, false, -1, -1, ""});
  }
}

}  // namespace

std::int64_t sample_row(int sequence, std::int64_t position) {
  const std::int64_t page = 1 + sequence * kBlocksPerSequence + position / kPageSize;
  return std::min(page, kPages - 2) * kPageSize + position % kPageSize;
}

Facts sample_facts(DType kv_dtype, Damage damage, int bucket) {
  Facts facts;
  facts.caches = {cache_of(0, CacheKind::kKey, kv_dtype), cache_of(0, CacheKind::kValue, kv_dtype),
                  cache_of(1, CacheKind::kKey, kv_dtype), cache_of(1, CacheKind::kValue, kv_dtype),
                  cache_of(1, CacheKind::kIndexKey, DType::kBf16)};
  for (int step = 0; step < kSteps; ++step) add_step(facts, step, damage);
  add_sample_graph(facts, damage == Damage::kElided ? Inserts::kElided : Inserts::kPresent, bucket);
  for (int step = 0; step < kSteps; ++step) {
    facts.steps.push_back(step_of(step, bucket, static_cast<int>(facts.nodes)));
  }
  if (damage == Damage::kElided) add_consequences(facts);
  if (damage != Damage::kElided) add_whole_chain(facts);
  facts.stability = {true, true, 0, 0.0, {}};
  facts.padded_eager_ran = true;
  facts.capture_metadata = "none";
  facts.rows_compared = 5ULL * kPages * kPageSize * kSteps;
  facts.rows_left_out = 128;
  facts.replays = kSteps;
  return facts;
}

}  // namespace graphsan::test
