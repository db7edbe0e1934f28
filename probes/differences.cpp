#include "probes/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

#include "probes/argument_words.hpp"
#include "probes/finding_text.hpp"

namespace graphsan::probes {

using diagnose::RowKey;
using diagnose::SpotKind;
using model::Facts;

namespace {

/// Differences of the local pass that are consequences, or that are none. Ordered by step, then
/// rows, selections, outputs.
std::vector<RowKey> differences(const Facts& facts, bool consequences,
                                const std::set<model::RowClass>& classes) {
  std::vector<RowKey> keys;
  for (const model::RowDifference& row : facts.rows) {
    if (classes.contains(row.row_class) && is_consequence(facts, row) == consequences) {
      keys.push_back({row.step, row.cache, row.row});
    }
  }
  std::set<RowKey> others;
  for (const model::TopKDifference& top_k : facts.top_k) {
    if (top_k.carried || is_consequence(facts, top_k) != consequences) continue;
    others.insert({top_k.step, top_k.layer, top_k.lane, SpotKind::kSelection});
  }
  for (const model::OutputDifference& output : facts.outputs) {
    if (output.carried || is_consequence(facts, output) != consequences) continue;
    others.insert({output.step, output.layer, output.lane, SpotKind::kOutput});
  }
  keys.insert(keys.end(), others.begin(), others.end());
  std::stable_sort(keys.begin(), keys.end(),
                   [](const RowKey& a, const RowKey& b) { return a.step < b.step; });
  return keys;
}

}  // namespace

std::vector<RowKey> primary_differences(const Facts& facts) {
  return differences(
      facts, false,
      {model::RowClass::kMissing, model::RowClass::kStray, model::RowClass::kWrongValue});
}

std::vector<RowKey> consequent_values(const Facts& facts) {
  return differences(facts, true, {model::RowClass::kWrongValue});
}

const model::RowDifference* row_of(const Facts& facts, const RowKey& key) {
  if (key.kind != SpotKind::kRow) return nullptr;
  const auto found =
      std::find_if(facts.rows.begin(), facts.rows.end(), [&](const model::RowDifference& row) {
        return row.step == key.step && row.cache == key.cache && row.row == key.row;
      });
  return found == facts.rows.end() ? nullptr : &*found;
}

int layer_of(const Facts& facts, const RowKey& key) {
  if (key.kind != SpotKind::kRow) return key.cache;
  return facts.caches[static_cast<std::size_t>(key.cache)].layer;
}

int layer_of(std::string_view source) {
  constexpr std::string_view kPrefix = "layer ";
  if (!source.starts_with(kPrefix)) return -1;
  int layer = -1;
  std::from_chars(source.data() + kPrefix.size(), source.data() + source.size(), layer);
  return layer;
}

std::vector<RowKey> in_layers(const Facts& facts, std::vector<RowKey> keys,
                              const std::set<int>& layers) {
  if (layers.contains(-1)) return keys;
  std::erase_if(keys, [&](const RowKey& key) { return !layers.contains(layer_of(facts, key)); });
  return keys;
}

std::string differences_text(const Facts& facts, const std::vector<RowKey>& keys) {
  std::vector<model::RowDifference> rows;
  std::size_t outputs = 0;
  std::size_t selections = 0;
  for (const RowKey& key : keys) {
    if (const model::RowDifference* row = row_of(facts, key)) rows.push_back(*row);
    outputs += key.kind == SpotKind::kOutput ? 1 : 0;
    selections += key.kind == SpotKind::kSelection ? 1 : 0;
  }
  std::string text;
  const auto say = [&](std::size_t count, const std::string& one, const std::string& many) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  const std::string caches = cache_list(where_of(facts, rows));
  say(rows.size(), "row of " + caches, "rows of " + caches);
  say(selections, "selection", "selections");
  say(outputs, "output", "outputs");
  return text;
}

namespace {

/// Places of selections and outputs, one a layer: page 0, slot = lane.
std::vector<model::Where> lanes_where(const std::vector<RowKey>& keys) {
  std::map<std::pair<SpotKind, int>, std::set<std::int64_t>> lanes;
  for (const RowKey& key : keys) {
    if (key.kind != SpotKind::kRow) lanes[{key.kind, key.cache}].insert(key.row);
  }
  std::vector<model::Where> where;
  for (const auto& [place, numbers] : lanes) {
    model::Where one;
    one.cache =
        place.first == SpotKind::kOutput ? model::CacheKind::kOutput : model::CacheKind::kTopK;
    one.layer = place.second;
    for (const std::int64_t lane : numbers) one.rows.push_back({0, lane});
    where.push_back(std::move(one));
  }
  return where;
}

}  // namespace

diagnose::Suspicion suspect(const Facts& facts, const char* mechanism, std::vector<RowKey> keys,
                            std::string_view how) {
  diagnose::Suspicion suspicion;
  model::Finding& finding = suspicion.finding;
  finding.mechanism = mechanism;
  std::vector<model::RowDifference> rows;
  finding.first_step = keys.empty() ? 0 : keys.front().step;
  for (const RowKey& key : keys) {
    finding.first_step = std::min(finding.first_step, key.step);
    if (const model::RowDifference* row = row_of(facts, key)) rows.push_back(*row);
  }
  finding.where = where_of(facts, rows);
  std::vector<model::Where> lanes = lanes_where(keys);
  std::move(lanes.begin(), lanes.end(), std::back_inserter(finding.where));
  if (!keys.empty()) {
    finding.evidence.push_back(fmt::format("first at step {}: {} differ from eager {}",
                                           finding.first_step, differences_text(facts, keys), how));
  }
  suspicion.rows = std::move(keys);
  return suspicion;
}

void confirm_by(diagnose::Suspicion& suspicion, diagnose::Change change,
                std::vector<std::string> names, std::vector<diagnose::NodeOf> nodes) {
  suspicion.confirm.push_back(
      {.change = change, .names = std::move(names), .nodes = std::move(nodes)});
}

void point_to(model::Finding& finding, const model::Work& node) {
  const int layer = layer_of(node.source);
  for (model::Where& place : finding.where) {
    if (layer >= 0 && place.layer != layer) continue;
    place.node = node.id;
    place.kernel = node.name;
    place.source = model::if_known(node.source);
  }
}

const model::Work* node_of(const Facts& facts, const model::Alignment& line) {
  if (line.segment < 0 || line.node < 0) return nullptr;
  return &facts.segments[static_cast<std::size_t>(line.segment)]
              .nodes[static_cast<std::size_t>(line.node)];
}

std::vector<NodeUse> node_uses(const Facts& facts) {
  std::map<std::pair<int, int>, const model::Work*> launches;
  for (const model::Alignment& line : facts.padded_alignment) {
    if (line.launch < 0 || line.segment < 0) continue;
    launches[{line.segment, line.node}] =
        &facts.padded_launches[static_cast<std::size_t>(line.launch)];
  }
  std::vector<NodeUse> uses;
  for (std::size_t segment = 0; segment < facts.segments.size(); ++segment) {
    for (const model::Work& node : facts.segments[segment].nodes) {
      const diagnose::NodeOf place{static_cast<int>(segment), node.id};
      const auto launch = launches.find({place.segment, place.node});
      for (const model::AddressUse& use : node.addresses) {
        NodeUse one{place, &node, &use, nullptr};
        if (launch != launches.end()) {
          for (const model::AddressUse& theirs : launch->second->addresses) {
            if (theirs.offset == use.offset) one.launched = &theirs;
          }
        }
        uses.push_back(one);
      }
    }
  }
  return uses;
}

namespace {

/// Operands of a copy that name another place than eager's: a destination in a named buffer, or a
/// source in the same one.
std::vector<std::string> moved_operands(const model::Work& launch, const model::Work& node) {
  std::vector<std::string> names;
  if (!launch.copy || !node.copy) return names;
  for (const model::AddressUse& ours : node.addresses) {
    for (const model::AddressUse& theirs : launch.addresses) {
      if (ours.field != theirs.field || ours.address == theirs.address) continue;
      const bool named = ours.owner == model::OwnerKind::kNamedBuffer &&
                         theirs.owner == model::OwnerKind::kNamedBuffer;
      // A temporary to copy from lies elsewhere in a graph's pool as a matter of course.
      if (named && (ours.field == "destination" || ours.block == theirs.block)) {
        names.push_back(ours.field);
      }
    }
  }
  return names;
}

}  // namespace

namespace {

/// Pointers that are null in the node and not in the launch.
std::vector<std::string> null_operands(const model::Work& launch, const model::Work& node) {
  std::vector<std::string> names;
  for (const model::AddressUse& ours : node.addresses) {
    for (const model::AddressUse& theirs : launch.addresses) {
      if (ours.offset == theirs.offset && ours.address == 0 && theirs.address != 0) {
        names.push_back(ours.field);
      }
    }
  }
  return names;
}

}  // namespace

namespace {

bool is_seed(const model::Work& work, std::string_view field) {
  const std::optional<Word> word = word_of(work, field);
  return word && looks_like_seed(*word);
}

/// ` (8, live 4096)`, or nothing where the field is no declared scalar.
std::string values_text(const model::Work& node, const model::Work& launch,
                        std::string_view field) {
  const std::optional<Word> captured = word_of(node, field);
  const std::optional<Word> live = word_of(launch, field);
  if (!captured || !live) return {};
  return fmt::format(" ({}, live {})", word_text(*captured), word_text(*live));
}

}  // namespace

FrozenWords frozen_words(const Facts& facts) {
  FrozenWords words;
  for (const model::Alignment& line : facts.padded_alignment) {
    const model::Work* node = node_of(facts, line);
    if (node == nullptr || line.launch < 0) continue;
    const model::Work& launch = facts.padded_launches[static_cast<std::size_t>(line.launch)];
    std::vector<std::string> fields = line.differing_fields;
    const bool seeds = std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
      return is_seed(*node, field) && is_seed(launch, field);
    });
    const std::size_t scalars = fields.size();
    if (line.kind == model::AlignmentKind::kOtherGrid) fields.push_back("grid");
    const std::size_t with_grid = fields.size();
    for (std::string& operand : moved_operands(launch, *node)) fields.push_back(std::move(operand));
    for (std::string& operand : null_operands(launch, *node)) fields.push_back(std::move(operand));
    if (fields.empty()) continue;
    words.seeds = words.seeds && seeds && scalars == fields.size();
    words.scalars = words.scalars && with_grid == fields.size();
    words.nodes.push_back({line.segment, line.node});
    words.layers.insert(layer_of(node->source));
    if (words.first == nullptr) words.first = node;
    std::string list;
    for (const std::string& field : fields) {
      list += (list.empty() ? "" : ", ") + field + values_text(*node, launch, field);
      if (std::find(words.fields.begin(), words.fields.end(), field) == words.fields.end()) {
        words.fields.push_back(field);
      }
    }
    words.evidence.push_back(
        fmt::format("node {} {} keeps what its capture passed as {}; {} passes something else",
                    node->id, model::with_source(node->name, node->source), list,
                    facts.padded_launches_captured ? "a second capture, of the step's own batch,"
                                                   : "the same padded batch run eagerly"));
  }
  return words;
}

namespace {

bool is_lost(const model::AddressUse& use) {
  if (use.address == 0 || use.captured_owner == model::OwnerKind::kGraphPool) return false;
  if (use.owner == model::OwnerKind::kFreeBlock ||
      use.captured_owner == model::OwnerKind::kFreeBlock) {
    return true;
  }
  // A live block of another allocation, or another named buffer, has taken its place.
  const bool known = use.captured_owner == model::OwnerKind::kNamedBuffer ||
                     use.captured_owner == model::OwnerKind::kOtherAllocation;
  return known && !use.captured_owner_name.empty() && use.captured_owner_name != use.owner_name;
}

}  // namespace

std::vector<NodeUse> lost_uses(const Facts& facts) {
  std::vector<NodeUse> lost;
  for (const NodeUse& use : node_uses(facts)) {
    if (is_lost(*use.use)) lost.push_back(use);
  }
  return lost;
}

std::string lost_text(const NodeUse& use) {
  const std::string then = use.use->captured_owner_name.empty()
                               ? std::string{to_string(use.use->captured_owner)}
                               : use.use->captured_owner_name;
  const std::string now =
      use.use->owner_name.empty() ? std::string{to_string(use.use->owner)} : use.use->owner_name;
  return fmt::format("node {} {} names {:#x} as {}: {} when the capture ended, {} now",
                     use.node->id, model::with_source(use.node->name, use.node->source),
                     use.use->address, use.use->field, then, now);
}

bool differs(const Facts& facts) {
  const bool selection = std::any_of(
      facts.top_k.begin(), facts.top_k.end(),
      [](const model::TopKDifference& top_k) { return top_k.kind != model::TopKKind::kTie; });
  return !facts.rows.empty() || facts.rows_dropped != 0 || selection || !facts.outputs.empty();
}

bool knows_arguments(const Facts& facts) {
  const auto& launches = facts.padded_launches;
  return !launches.empty() &&
         std::none_of(launches.begin(), launches.end(), [](const model::Work& launch) {
           return launch.type == model::NodeType::kKernel && launch.arguments.empty();
         });
}

bool is_written(const model::Work& work, const model::AddressUse& use) {
  if (work.copy || work.fill) return use.field == "destination";
  return std::any_of(work.fields.begin(), work.fields.end(),
                     [&](const model::ArgumentField& field) {
                       return field.is_written && field.offset == use.offset;
                     });
}

bool writes_buffer(const model::Work& work, std::string_view buffer) {
  return std::any_of(work.addresses.begin(), work.addresses.end(),
                     [&](const model::AddressUse& use) {
                       return use.owner_name == buffer && use.address != 0 && is_written(work, use);
                     });
}

bool is_pad_stray(const model::RowDifference& row) {
  return row.row_class == model::RowClass::kStray && row.origin.kind == model::OriginKind::kPadLane;
}

}  // namespace graphsan::probes
