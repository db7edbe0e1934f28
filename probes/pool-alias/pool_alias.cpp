#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// A read of a block in the pool whose last writer is not the one that eager has.
struct AliasedRead {
  const model::Work* reader = nullptr;
  const model::Work* writer = nullptr;
  const model::AddressUse* use = nullptr;
};

/// Nodes of all segments in order, with the launch that corresponds to each (-1: none).
struct Ordered {
  std::vector<const model::Work*> nodes;
  std::vector<int> launches;
};

Ordered in_order(const Facts& facts) {
  Ordered ordered;
  for (std::size_t segment = 0; segment < facts.segments.size(); ++segment) {
    for (const model::Work& node : facts.segments[segment].nodes) {
      ordered.nodes.push_back(&node);
      ordered.launches.push_back(-1);
      for (const model::Alignment& line : facts.padded_alignment) {
        if (line.segment == static_cast<int>(segment) && line.node == node.id) {
          ordered.launches.back() = line.launch;
        }
      }
    }
  }
  return ordered;
}

bool writes_block(const model::Work& work, std::uint64_t block) {
  return std::any_of(
      work.addresses.begin(), work.addresses.end(),
      [&](const model::AddressUse& use) { return use.block == block && is_written(work, use); });
}

/// The last node before `at` that writes the block; of the replay before where there is none.
int last_writer(const Ordered& ordered, std::size_t at, std::uint64_t block) {
  const std::size_t count = ordered.nodes.size();
  for (std::size_t back = 1; back < count; ++back) {
    const std::size_t index = (at + count - back) % count;
    if (writes_block(*ordered.nodes[index], block)) return static_cast<int>(index);
  }
  return -1;
}

/// The last launch before `launch` that writes what eager's operand names; -1: none.
int last_eager_writer(const Facts& facts, int launch, std::uint32_t offset) {
  const auto& launches = facts.padded_launches;
  std::uint64_t block = 0;
  for (const model::AddressUse& use : launches[static_cast<std::size_t>(launch)].addresses) {
    if (use.offset == offset) block = use.block;
  }
  if (block == 0) return -1;
  for (int before = launch - 1; before >= 0; --before) {
    if (writes_block(launches[static_cast<std::size_t>(before)], block)) return before;
  }
  return -1;
}

/// A node that may write through an operand may read through it as well: so it does, perhaps, where
/// no other launch of eager's step names that memory, as state that is kept from step to step.
bool may_keep_state(const Facts& facts, int launch, std::uint32_t offset) {
  const auto& launches = facts.padded_launches;
  std::uint64_t block = 0;
  for (const model::AddressUse& use : launches[static_cast<std::size_t>(launch)].addresses) {
    if (use.offset == offset) block = use.block;
  }
  for (std::size_t other = 0; other < launches.size(); ++other) {
    if (static_cast<int>(other) == launch) continue;
    for (const model::AddressUse& use : launches[other].addresses) {
      if (use.block == block) return false;
    }
  }
  return block != 0;
}

/// More than one graph shares the pool.
bool several_graphs(const Facts& facts) {
  std::set<int> buckets;
  for (const model::StepFacts& step : facts.steps) {
    if (step.covered) buckets.insert(step.bucket);
  }
  return buckets.size() > 1 || !facts.other_graphs.empty();
}

/// Operands that are only read tell more than those which a node may write as well.
enum class Operand : std::uint8_t { kRead, kKeptState };

std::optional<AliasedRead> aliased(const Facts& facts, const Ordered& ordered, Operand operand) {
  for (std::size_t at = 0; at < ordered.nodes.size(); ++at) {
    if (ordered.launches[at] < 0) continue;
    for (const model::AddressUse& use : ordered.nodes[at]->addresses) {
      if (use.owner != model::OwnerKind::kGraphPool) continue;
      const bool written = is_written(*ordered.nodes[at], use);
      if (written != (operand == Operand::kKeptState)) continue;
      if (written && !may_keep_state(facts, ordered.launches[at], use.offset)) continue;
      const int writer = last_writer(ordered, at, use.block);
      if (writer < 0) {
        // Nobody else of this graph: a block born in its capture, which another graph may use.
        if (!written || !several_graphs(facts)) continue;
        return AliasedRead{ordered.nodes[at], nullptr, &use};
      }
      const int eager = last_eager_writer(facts, ordered.launches[at], use.offset);
      if (eager >= 0 && ordered.launches[static_cast<std::size_t>(writer)] == eager) continue;
      return AliasedRead{ordered.nodes[at], ordered.nodes[static_cast<std::size_t>(writer)], &use};
    }
  }
  return std::nullopt;
}

std::optional<AliasedRead> aliased_read(const Facts& facts) {
  const Ordered ordered = in_order(facts);
  std::optional<AliasedRead> read = aliased(facts, ordered, Operand::kRead);
  return read ? read : aliased(facts, ordered, Operand::kKeptState);
}

/// Two things that are live at once share a block of the graph's pool.
class PoolAliasProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::optional<AliasedRead> aliased = aliased_read(facts);
    std::vector<RowKey> keys = primary_differences(facts);
    if (!aliased || keys.empty()) return {};
    Suspicion suspicion = suspect(facts, "pool-alias", std::move(keys));
    suspicion.finding.summary =
        "a block of the graph's pool is used by two things that are live at once: one overwrites "
        "the other";
    const std::string reader =
        fmt::format("node {} {}", aliased->reader->id,
                    model::with_source(aliased->reader->name, aliased->reader->source));
    if (aliased->writer == nullptr) {
      suspicion.finding.evidence.push_back(fmt::format(
          "{} keeps {} from replay to replay in a block of the pool that several graphs share",
          reader, aliased->use->field));
      point_to(suspicion.finding, *aliased->reader);
    } else {
      suspicion.finding.evidence.push_back(fmt::format(
          "{} {} {} in a block that node {} {} wrote last; in eager something else did", reader,
          is_written(*aliased->reader, *aliased->use) ? "may read and write" : "reads",
          aliased->use->field, aliased->writer->id,
          model::with_source(aliased->writer->name, aliased->writer->source)));
      point_to(suspicion.finding, *aliased->writer);
    }
    suspicion.finding.fix =
        "Keep a handle on every buffer that is still needed while the graph is captured, and use "
        "one pool per set of graphs whose outputs are live at the same time.";
    confirm_by(suspicion, diagnose::Change::kKeepFreed);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (!knows_arguments(facts) || aliased_read(facts)) return std::nullopt;
    return "every read of the graph's pool finds what the node wrote that writes it in eager";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_pool_alias_probe() {
  return std::make_unique<PoolAliasProbe>();
}

}  // namespace graphsan::probes
