#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/facts.hpp"

namespace graphsan::test {

/// Numbers of the caches of facts_scene().
enum SceneCache : int { kKey0 = 0, kValue0 = 1, kIndexKey0 = 2, kGuard0 = 3 };

/// Facts of a sound case, by hand: one layer with key, value and index-key of 8 pages of 4 slots
/// and one guard zone; `steps` decode steps of 3 real lanes in a bucket of `bucket`. At step s lane
/// l writes row 8 × (l + 1) + s. Eager launches one write for each cache, and the graph has a node
/// for each.
inline model::Facts facts_scene(int steps = 3, int bucket = 4) {
  model::Facts facts;
  const std::pair<const char*, model::CacheKind> caches[] = {
      {"layer 0 key", model::CacheKind::kKey},
      {"layer 0 value", model::CacheKind::kValue},
      {"layer 0 index-key", model::CacheKind::kIndexKey},
      {"layer 0 kv cache, guard before", model::CacheKind::kGuard}};
  for (const auto& [name, kind] : caches) {
    model::CacheLayout layout;
    layout.name = name;
    layout.kind = kind;
    layout.pages = 8;
    layout.page_size = 4;
    layout.heads = 1;
    layout.dim = 32;
    layout.dtype = model::DType::kU8;
    facts.caches.push_back(std::move(layout));
  }
  facts.cache_buffers = {"kv cache", "kv cache", "index-key cache", ""};
  for (int s = 0; s < steps; ++s) {
    model::StepFacts step;
    step.step = s;
    step.batch = "decode";
    step.tokens = 3;
    step.bucket = bucket;
    step.covered = true;
    step.replayed_nodes = 2;
    step.nonce_overwritten = true;
    for (int lane = 0; lane < bucket; ++lane) {
      if (lane >= 3) {
        step.lanes.emplace_back();
        continue;
      }
      const std::int64_t row = 8 * (lane + 1) + s;
      step.lanes.push_back({true, lane, s, row, row});
    }
    facts.steps.push_back(std::move(step));
    for (int cache = 0; cache < kGuard0; ++cache) {
      const std::vector<std::int64_t> rows{8 + s, 16 + s, 24 + s};
      facts.writes.push_back({s, cache, rows, rows, rows, rows, 0});
    }
  }
  const auto write = [](int id, const char* name, const char* buffer) {
    model::Work work;
    work.id = id;
    work.name = name;
    work.source = "layer 0 / insert";
    work.addresses = {{"cache", 0, 0x1000, model::OwnerKind::kNamedBuffer, buffer}};
    return work;
  };
  facts.eager_launches = {write(0, "reshape_and_cache_flash", "kv cache"),
                          write(1, "index_key_write", "index-key cache")};
  facts.segments.push_back({4, 0, facts.eager_launches, {}, ""});
  for (int i = 0; i < 2; ++i) {
    model::Alignment line;
    line.launch = i;
    line.segment = 0;
    line.node = i;
    line.name = facts.eager_launches[static_cast<std::size_t>(i)].name;
    facts.alignment.push_back(std::move(line));
  }
  facts.stability = {true, true, 0, 0, {}};
  facts.capture_metadata = "none";
  facts.padded_eager_ran = true;
  facts.replays = static_cast<std::uint64_t>(steps);
  facts.nodes = 2;
  return facts;
}

inline model::WriteSets& writes_of(model::Facts& facts, int step, int cache) {
  for (model::WriteSets& sets : facts.writes) {
    if (sets.step == step && sets.cache == cache) return sets;
  }
  return facts.writes.emplace_back(model::WriteSets{step, cache, {}, {}, {}, {}, 0});
}

/// The graph leaves lane `lane`'s row of `cache` as it was at `step`.
inline void lose_row(model::Facts& facts, int step, int cache, int lane) {
  model::RowDifference row;
  row.step = step;
  row.cache = cache;
  row.row = 8 * (lane + 1) + step;
  row.row_class = model::RowClass::kMissing;
  row.origin.kind = model::OriginKind::kUntouched;
  row.lane = lane;
  row.eager = {0xAAAA};
  row.graph = {0xBBBB};
  std::erase(writes_of(facts, step, cache).graph, row.row);
  facts.rows.push_back(std::move(row));
}

inline void lose_rows(model::Facts& facts, int step, int cache) {
  for (int lane = 0; lane < 3; ++lane) lose_row(facts, step, cache, lane);
}

/// The graph changes a row that nobody may write; by default pad lane 3 does, on the last row.
inline model::RowDifference& stray_row(model::Facts& facts, int step, int cache,
                                       std::int64_t row = 31) {
  model::RowDifference stray;
  stray.step = step;
  stray.cache = cache;
  stray.row = row;
  stray.row_class = model::RowClass::kStray;
  stray.origin = {
      .kind = model::OriginKind::kPadLane, .row = -1, .step = -1, .lane = 3, .also = {}};
  stray.places = {row == 31 ? model::Place::kLastRow : model::Place::kOrdinary};
  writes_of(facts, step, cache).graph.push_back(row);
  return facts.rows.emplace_back(std::move(stray));
}

/// The graph has no node for eager's launch `launch`.
inline void lose_node(model::Facts& facts, int launch) {
  model::Alignment& line = facts.alignment[static_cast<std::size_t>(launch)];
  line.kind = model::AlignmentKind::kMissing;
  line.segment = -1;
  line.node = -1;
}

}  // namespace graphsan::test
