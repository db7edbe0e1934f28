#include "sample_graph.hpp"

#include <cstring>
#include <string>

namespace graphsan::test {
namespace {

using namespace graphsan::model;

constexpr std::uint64_t kPool = 0x7f3a40000000ULL;

/// Builds a kernel's packed arguments field by field.
class WorkBuilder {
 public:
  WorkBuilder(std::string name, std::string source, std::uint32_t lanes) {
    work_.name = std::move(name);
    work_.source = std::move(source);
    work_.grid = {lanes, 1, 1};
    work_.block = {128, 1, 1};
  }
  WorkBuilder& pointer(const std::string& field, std::uint64_t address, const std::string& owner) {
    add(field, &address, sizeof address, true);
    work_.addresses.push_back({field, work_.fields.back().offset, address,
                               owner.empty() ? OwnerKind::kGraphPool : OwnerKind::kNamedBuffer,
                               owner});
    return *this;
  }
  WorkBuilder& integer(const std::string& field, std::int32_t value) {
    add(field, &value, sizeof value, false);
    return *this;
  }
  WorkBuilder& real(const std::string& field, float value) {
    add(field, &value, sizeof value, false);
    return *this;
  }
  Work build() {
    work_.arguments = {{0, bytes_}};
    return work_;
  }

 private:
  void add(const std::string& field, const void* value, std::uint32_t size, bool is_pointer) {
    while (bytes_.size() % size != 0) bytes_.push_back(std::byte{0});
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    bytes_.resize(offset + size);
    std::memcpy(bytes_.data() + offset, value, size);
    work_.fields.push_back({field, offset, size, is_pointer});
  }

  Work work_;
  std::vector<std::byte> bytes_;
};

std::string label(int layer, const char* op) {
  return "layer " + std::to_string(layer) + " / " + op;
}

std::uint64_t cache_address(std::size_t cache) { return kPool + cache * 0x4000000ULL; }

Work norm_rope(int layer, int lanes) {
  return WorkBuilder{"norm_rope_kernel", label(layer, "norm-rope"),
                     static_cast<std::uint32_t>(lanes)}
      .pointer("qkv", kPool + 0x60000000, "qkv")
      .pointer("positions", kPool + 0x61000000, "positions")
      .pointer("query", kPool + 0x62000000, "")
      .integer("tokens", lanes)
      .real("eps", 1e-6F)
      .build();
}

Work cache_write(const Facts& facts, std::size_t key, int lanes) {
  const CacheLayout& cache = facts.caches[key];
  return WorkBuilder{
      "reshape_and_cache_flash_kernel<bf16, " + std::string{to_string(cache.dtype)} + ">",
      label(cache.layer, "insert"), static_cast<std::uint32_t>(lanes)}
      .pointer("key_cache", cache_address(key), cache.name)
      .pointer("value_cache", cache_address(key + 1), facts.caches[key + 1].name)
      .pointer("slot_mapping", kPool + 0x63000000, "slot_mapping")
      .integer("tokens", lanes)
      .real("k_scale", 1.0F)
      .real("v_scale", 1.0F)
      .build();
}

Work index_write(const Facts& facts, std::size_t cache, int lanes) {
  return WorkBuilder{"index_put_kernel", label(1, "insert"), static_cast<std::uint32_t>(lanes)}
      .pointer("index_cache", cache_address(cache), facts.caches[cache].name)
      .pointer("slot_mapping", kPool + 0x63000000, "slot_mapping")
      .integer("tokens", lanes)
      .build();
}

Work reader(const Facts& facts, const char* name, const char* op, std::size_t cache, int lanes) {
  return WorkBuilder{name, label(facts.caches[cache].layer, op), static_cast<std::uint32_t>(lanes)}
      .pointer("cache", cache_address(cache), facts.caches[cache].name)
      .pointer("block_table", kPool + 0x64000000, "block_table")
      .pointer("seq_lens", kPool + 0x65000000, "seq_lens")
      .integer("k", 16)
      .build();
}

enum class Runs { kInGraph, kInBreak, kOnlyEager };

struct Planned {
  Work work;
  Runs runs;
};

std::vector<Planned> plan(const Facts& facts, Inserts inserts, int lanes) {
  const Runs writes = inserts == Inserts::kPresent ? Runs::kInGraph : Runs::kOnlyEager;
  return {{norm_rope(0, lanes), Runs::kInGraph},
          {cache_write(facts, 0, lanes), writes},
          {reader(facts, "dense_attention_kernel", "attention", 0, lanes), Runs::kInBreak},
          {norm_rope(1, lanes), Runs::kInGraph},
          {cache_write(facts, 2, lanes), writes},
          {index_write(facts, 4, lanes), writes},
          {reader(facts, "indexer_score_kernel", "indexer", 4, lanes), Runs::kInBreak},
          {reader(facts, "select_top_k_kernel", "indexer", 4, lanes), Runs::kInBreak},
          {reader(facts, "sparse_attention_kernel", "attention", 2, lanes), Runs::kInBreak},
          {reader(facts, "project_output_kernel", "mix", 3, lanes), Runs::kInGraph}};
}

}  // namespace

void add_sample_graph(Facts& facts, Inserts inserts, int bucket) {
  facts.segments = {{bucket, 0, {}, {}, "attention"},
                    {bucket, 1, {}, {}, "indexer, attention"},
                    {bucket, 2, {}, {}, ""}};
  std::size_t segment = 0;
  for (Planned& planned : plan(facts, inserts, bucket)) {
    const int launch = static_cast<int>(facts.eager_launches.size());
    planned.work.id = launch;
    facts.eager_launches.push_back(planned.work);
    Alignment line{AlignmentKind::kMatched, launch, -1, -1, planned.work.name,
                   planned.work.source,     {}};
    GraphSegment& current = facts.segments[segment];
    if (planned.runs == Runs::kInGraph) {
      line.segment = current.segment;
      line.node = planned.work.id = static_cast<int>(current.nodes.size());
      if (line.node > 0) current.edges.push_back({line.node - 1, line.node});
      current.nodes.push_back(planned.work);
      ++facts.nodes;
    } else if (planned.runs == Runs::kOnlyEager) {
      line.kind = AlignmentKind::kMissing;
    } else if (!current.nodes.empty() && segment + 1 < facts.segments.size()) {
      ++segment;
    }
    facts.alignment.push_back(line);
  }
  for (const char* name : {"qkv", "positions", "slot_mapping", "block_table", "seq_lens"}) {
    facts.inputs.push_back({name, kPool + 0x63000000, kPool + 0x63000000, true});
  }
}

}  // namespace graphsan::test
