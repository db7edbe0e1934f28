#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "model/eager_fault.hpp"
#include "run/consequences.hpp"

namespace graphsan::run {

namespace {

using model::CacheKind;
using model::ChainLink;
using model::ChainStage;
using model::Facts;
using model::TopKDifference;

bool is_graph_fault(const model::RowDifference& row) {
  return row.row_class == model::RowClass::kMissing || row.row_class == model::RowClass::kStray ||
         row.row_class == model::RowClass::kWrongValue;
}

std::string list(const std::vector<int>& ids, std::size_t limit = 6) {
  std::ostringstream out;
  for (std::size_t i = 0; i < std::min(ids.size(), limit); ++i) {
    out << (i == 0 ? "" : ", ") << ids[i];
  }
  if (ids.size() > limit) out << " and " << ids.size() - limit << " more";
  return out.str();
}

ChainLink write_link(const Facts& facts, ChainStage stage, bool index_key) {
  ChainLink link;
  link.stage = stage;
  std::size_t missing = 0;
  std::size_t stray = 0;
  std::size_t wrong = 0;
  for (const model::RowDifference& row : facts.rows) {
    const CacheKind kind = facts.caches[static_cast<std::size_t>(row.cache)].kind;
    if (kind == CacheKind::kGuard || (kind == CacheKind::kIndexKey) != index_key ||
        !is_graph_fault(row) || model::is_consequence(facts, row))
      continue;
    if (!link.broken) {
      link.broken = true;
      link.step = row.step;
      link.layer = facts.caches[static_cast<std::size_t>(row.cache)].layer;
    }
    missing += row.row_class == model::RowClass::kMissing ? 1 : 0;
    stray += row.row_class == model::RowClass::kStray ? 1 : 0;
    wrong += row.row_class == model::RowClass::kWrongValue ? 1 : 0;
  }
  std::ostringstream out;
  if (!link.broken) {
    out << "every row equals eager's";
  } else {
    const char* separator = "";
    const auto say = [&](std::size_t count, const char* what) {
      if (count == 0) return;
      out << separator << count << (count == 1 ? " row " : " rows ") << what;
      separator = ", ";
    };
    say(missing, "missing");
    say(stray, "stray");
    say(wrong, "with other bytes");
  }
  link.detail = out.str();
  return link;
}

/// The top-k difference that says most: a true mismatch with the widest margin on eager's scores.
const TopKDifference* clearest(const Facts& facts) {
  const TopKDifference* best = nullptr;
  for (const TopKDifference& difference : facts.top_k) {
    if (difference.kind == model::TopKKind::kTie) continue;
    if (best == nullptr || difference.margin > best->margin) best = &difference;
  }
  return best;
}

bool selected_nothing(const TopKDifference& difference) {
  return difference.graph_ids.empty() && difference.only_graph.empty();
}

void place(ChainLink& link, const TopKDifference& difference) {
  link.broken = true;
  link.step = difference.step;
  link.layer = difference.layer;
}

ChainLink score_link(const TopKDifference* difference) {
  ChainLink link;
  link.stage = ChainStage::kScore;
  link.detail = "no selection differs, scores were not compared further";
  if (difference == nullptr || difference->only_eager.empty() || difference->graph_scores.empty()) {
    return link;
  }
  const float ours = difference->eager_scores.front();
  const float theirs = difference->graph_scores.front();
  if (!std::isfinite(ours) || !std::isfinite(theirs)) {
    link.detail = "no reference scores to compare";
    return link;
  }
  std::ostringstream out;
  out << "block " << difference->only_eager.front() << " scores " << ours << " in eager, " << theirs
      << " in the graph";
  link.detail = out.str();
  if (ours != theirs) place(link, *difference);
  return link;
}

ChainLink selection_link(const Facts& facts, const TopKDifference* difference) {
  ChainLink link;
  link.stage = ChainStage::kTopK;
  const auto ties =
      std::count_if(facts.top_k.begin(), facts.top_k.end(),
                    [](const TopKDifference& d) { return d.kind == model::TopKKind::kTie; });
  if (difference == nullptr) {
    link.detail = ties == 0 ? "every selection equals eager's"
                            : "selections differ only where eager's own scores tie";
    return link;
  }
  place(link, *difference);
  std::ostringstream out;
  if (selected_nothing(*difference)) {
    out << "lane " << difference->lane << ", head " << difference->head
        << ": the replay wrote no selection";
    link.detail = out.str();
    return link;
  }
  out << "lane " << difference->lane << ", head " << difference->head << " loses block "
      << list(difference->only_eager) << " (margin " << difference->margin
      << " on eager's scores) and takes " << list(difference->only_graph);
  if (difference->reproduced_from_graph_cache.value_or(false)) {
    out << "; the reference indexer on the graph's cache selects the same: the indexer is sound";
  } else if (difference->reproduced_from_graph_cache.has_value()) {
    out << "; the reference indexer on the graph's cache selects otherwise: the indexer is to "
           "blame";
  }
  link.detail = out.str();
  return link;
}

ChainLink blocks_link(const TopKDifference* difference) {
  ChainLink link;
  link.stage = ChainStage::kBlocksRead;
  if (difference == nullptr) {
    link.detail = "attention reads the blocks that eager reads";
    return link;
  }
  place(link, *difference);
  if (selected_nothing(*difference)) {
    link.detail = "without a selection attention has no block to read";
    return link;
  }
  link.detail = "attention reads block " + list(difference->only_graph) + " instead of " +
                list(difference->only_eager);
  return link;
}

ChainLink output_link(const Facts& facts, int first_layer) {
  ChainLink link;
  link.stage = ChainStage::kOutput;
  const model::OutputDifference* worst = nullptr;
  std::set<std::pair<int, int>> lanes;  // both passes may show one
  for (const model::OutputDifference& output : facts.outputs) {
    if (first_layer >= 0 && output.layer != first_layer) continue;
    lanes.insert({output.step, output.lane});
    if (worst == nullptr || output.mean_rel > worst->mean_rel) worst = &output;
  }
  if (worst == nullptr) {
    link.detail = "every output equals eager's";
    return link;
  }
  link.broken = true;
  link.step = worst->step;
  link.layer = worst->layer;
  std::ostringstream out;
  out.precision(3);
  out << lanes.size() << (lanes.size() == 1 ? " output differs" : " outputs differ")
      << ", worst in lane " << worst->lane << ": mean relative error " << 100 * worst->mean_rel
      << " %";
  if (worst->reproduced_from_graph_cache.value_or(false)) {
    out << "; the reference attention on the graph's cache gives the same: attention is sound";
  } else if (worst->reproduced_from_graph_cache.has_value()) {
    out << "; the reference attention on the graph's cache gives something else: attention is to "
           "blame";
  }
  link.detail = out.str();
  return link;
}

ChainLink next_layer_link(const Facts& facts, int first_layer) {
  ChainLink link;
  link.stage = ChainStage::kNextLayer;
  link.detail = "no later layer differs";
  if (first_layer < 0) return link;
  for (const model::OutputDifference& output : facts.outputs) {
    if (output.layer <= first_layer) continue;
    link.broken = true;
    link.step = output.step;
    link.layer = output.layer;
    link.detail = "layer " + std::to_string(output.layer) + " differs as well";
    break;
  }
  return link;
}

/// The stages that a step has: its caches and what of its outputs was recorded say so.
std::set<ChainStage> stages_of(const Facts& facts, const std::set<CacheKind>& outputs) {
  std::set<ChainStage> stages;
  std::set<int> layers;
  for (const model::CacheLayout& cache : facts.caches) {
    if (cache.kind == CacheKind::kGuard) continue;
    stages.insert(cache.kind == CacheKind::kIndexKey ? ChainStage::kIndexKeyWrite
                                                     : ChainStage::kKeyValueWrite);
    layers.insert(cache.layer);
  }
  if (outputs.count(CacheKind::kTopK) != 0) {
    stages.insert({ChainStage::kScore, ChainStage::kTopK, ChainStage::kBlocksRead});
  }
  if (outputs.count(CacheKind::kOutput) != 0) {
    stages.insert(ChainStage::kOutput);
    if (layers.size() > 1) stages.insert(ChainStage::kNextLayer);
  }
  return stages;
}

}  // namespace

std::vector<ChainLink> build_chain(const Facts& facts, const std::set<CacheKind>& outputs) {
  const TopKDifference* difference = clearest(facts);
  int first_layer = -1;
  for (const model::OutputDifference& output : facts.outputs) {
    if (first_layer < 0 || output.layer < first_layer) first_layer = output.layer;
  }
  std::vector<ChainLink> chain{write_link(facts, ChainStage::kIndexKeyWrite, true),
                               write_link(facts, ChainStage::kKeyValueWrite, false),
                               score_link(difference),
                               selection_link(facts, difference),
                               blocks_link(difference),
                               output_link(facts, first_layer),
                               next_layer_link(facts, first_layer)};
  const std::set<ChainStage> stages = stages_of(facts, outputs);
  chain.erase(std::remove_if(chain.begin(), chain.end(),
                             [&](const ChainLink& link) {
                               return stages.count(link.stage) == 0 && !link.broken;
                             }),
              chain.end());
  if (chain.empty()) return {};
  // Links stand in the order of their stages, which decides where step and layer are equal.
  const auto first =
      std::min_element(chain.begin(), chain.end(), [](const ChainLink& a, const ChainLink& b) {
        if (a.broken != b.broken) return a.broken;
        return std::pair{a.step, a.layer} < std::pair{b.step, b.layer};
      });
  if (!first->broken) return {};
  // The graph broke nothing.
  if (model::eager_fault(facts) != model::EagerFault::kNone) return {};
  // Where eager differs from itself no value can be blamed, and a chain would blame one.
  if (facts.stability.ran && !facts.stability.stable) return {};
  first->first = true;
  return chain;
}

}  // namespace graphsan::run
