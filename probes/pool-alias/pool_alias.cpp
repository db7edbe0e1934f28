#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// A block of the pool that several nodes name, at least one of which writes it.
struct SharedBlock {
  const model::Work* writer = nullptr;
  const model::Work* other = nullptr;
  std::uint64_t block = 0;
};

std::optional<SharedBlock> shared_block(const Facts& facts) {
  std::map<std::uint64_t, std::vector<NodeUse>> blocks;
  for (const NodeUse& use : node_uses(facts)) {
    if (use.use->owner == model::OwnerKind::kGraphPool) blocks[use.use->block].push_back(use);
  }
  for (const auto& [block, uses] : blocks) {
    for (const NodeUse& use : uses) {
      const auto other = std::find_if(uses.begin(), uses.end(),
                                      [&](const NodeUse& one) { return one.node != use.node; });
      if (other != uses.end()) return SharedBlock{use.node, other->node, block};
    }
    if (!facts.other_graphs.empty()) return SharedBlock{uses.front().node, nullptr, block};
  }
  return std::nullopt;
}

/// Two things that are live at once share a block of the graph's pool.
class PoolAliasProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::optional<SharedBlock> shared = shared_block(facts);
    std::vector<RowKey> keys = primary_differences(facts);
    if (!shared || keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "pool-alias", std::move(keys));
    suspicion.finding.summary =
        "a block of the graph's pool is used by two things that are live at once: one overwrites "
        "the other";
    suspicion.finding.evidence.push_back(
        shared->other == nullptr
            ? fmt::format("node {} {} names block {:#x} of a pool that several graphs share",
                          shared->writer->id, shared->writer->name, shared->block)
            : fmt::format("node {} {} ({}) and node {} {} ({}) name the same block {:#x}",
                          shared->writer->id, shared->writer->name, shared->writer->source,
                          shared->other->id, shared->other->name, shared->other->source,
                          shared->block));
    suspicion.finding.fix =
        "Keep a handle on every buffer that is still needed while the graph is captured, and use "
        "one pool per set of graphs whose outputs are live at the same time.";
    confirm_by(suspicion, diagnose::Change::kKeepFreed);
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_pool_alias_probe() {
  return std::make_unique<PoolAliasProbe>();
}

}  // namespace graphsan::probes
