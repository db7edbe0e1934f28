#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probes/differences.hpp"
#include "probes/finding_text.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using model::Facts;
using model::RowDifference;

/// Lanes of each (step, cache) whose row is missing.
using MissingLanes = std::map<int, std::map<int, std::set<int>>>;

std::vector<RowDifference> missing_rows(const Facts& facts) {
  std::vector<RowDifference> rows;
  std::copy_if(facts.rows.begin(), facts.rows.end(), std::back_inserter(rows),
               [](const RowDifference& row) {
                 return row.row_class == model::RowClass::kMissing &&
                        row.origin.kind == model::OriginKind::kUntouched;
               });
  return rows;
}

/// Rows of the cache that the step's slot mapping names: a lane with slot -1 has none.
std::size_t named_rows(const Facts& facts, int step, int cache) {
  for (const model::WriteSets& sets : facts.writes) {
    if (sets.step == step && sets.cache == cache) return sets.expected.size();
  }
  return 0;
}

/// Caches in which every covered step misses the same lanes, or every lane: the graph never writes
/// them, whatever the inputs.
std::set<int> steadily_missing(const Facts& facts, const std::vector<RowDifference>& rows) {
  MissingLanes missing;
  for (const RowDifference& row : rows) missing[row.cache][row.step].insert(row.lane);
  std::set<int> caches;
  for (const auto& [cache, by_step] : missing) {
    bool steady = true;
    std::optional<std::set<int>> pattern;
    for (const model::StepFacts& step : facts.steps) {
      const std::size_t named = named_rows(facts, step.step, cache);
      if (!step.covered || named == 0) continue;
      const auto found = by_step.find(step.step);
      if (found == by_step.end()) {
        // A step of another bucket or kind replays another graph, which may be sound.
        const auto at = static_cast<std::size_t>(by_step.begin()->first);
        const model::StepFacts& other = facts.steps[at];
        steady = steady && (other.batch != step.batch || other.bucket != step.bucket);
        continue;
      }
      const bool all = found->second.size() == named;
      steady = steady && (all || !pattern || *pattern == found->second);
      if (!all) pattern = found->second;
    }
    if (steady) caches.insert(cache);
  }
  return caches;
}

bool names(const model::Work& work, const std::string& buffer) {
  return std::any_of(work.addresses.begin(), work.addresses.end(),
                     [&](const model::AddressUse& use) { return use.owner_name == buffer; });
}

/// A pointer is null in the node where the launch has an address.
bool lost_pointer(const model::Work& launch, const model::Work& node) {
  return std::any_of(
      node.addresses.begin(), node.addresses.end(), [&](const model::AddressUse& ours) {
        if (ours.address != 0) return false;
        return std::any_of(launch.addresses.begin(), launch.addresses.end(),
                           [&](const model::AddressUse& theirs) {
                             return theirs.offset == ours.offset && theirs.address != 0;
                           });
      });
}

/// A node that eager has no launch for writes the memory: the write was not left out but done in
/// another way.
bool others_write(const Facts& facts, const std::string& buffer) {
  return std::any_of(facts.alignment.begin(), facts.alignment.end(),
                     [&](const model::Alignment& line) {
                       const model::Work* node = node_of(facts, line);
                       return line.kind == model::AlignmentKind::kExtra && node != nullptr &&
                              writes_buffer(*node, buffer);
                     });
}

/// A tracer saw the launch, so nobody knows which memory it names.
bool operands_unknown(const model::Work& launch) {
  return launch.type == model::NodeType::kKernel && launch.arguments.empty() &&
         launch.addresses.empty();
}

/// The eager launches of unknown operands that have no node: of several, any may be the write.
std::vector<const model::Work*> lost_unknown(const Facts& facts) {
  std::vector<const model::Work*> lost;
  for (const model::Alignment& line : facts.alignment) {
    if (line.launch < 0 || line.kind != model::AlignmentKind::kMissing) continue;
    const model::Work& launch = facts.eager_launches[static_cast<std::size_t>(line.launch)];
    if (operands_unknown(launch)) lost.push_back(&launch);
  }
  return lost;
}

/// `model.py:12, :15`: where the launches come from, each place once and in order; `and more` after
/// the fourth.
std::string places_of(const std::vector<const model::Work*>& launches) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> places;
  for (const model::Work* launch : launches) {
    const bool known = std::find(places.begin(), places.end(), launch->source) != places.end();
    if (!launch->source.empty() && !known) places.push_back(launch->source);
  }
  std::string text;
  std::string_view file;
  for (std::size_t i = 0; i < std::min(kMost, places.size()); ++i) {
    const std::string_view place = places[i];
    const std::size_t colon = std::min(place.rfind(':'), place.size());
    const bool same = i > 0 && place.substr(0, colon) == file;
    text += fmt::format("{}{}", i == 0 ? "" : ", ", same ? place.substr(colon) : place);
    file = place.substr(0, colon);
  }
  return places.size() > kMost ? text + " and more" : text;
}

/// The eager launch that names the cache's memory and has no node, or whose node lost the address.
const model::Work* lost_launch(const Facts& facts, int cache, bool& node_is_there) {
  const std::string& buffer = facts.cache_buffers[static_cast<std::size_t>(cache)];
  for (const model::Alignment& line : facts.alignment) {
    if (line.launch < 0) continue;
    const model::Work& launch = facts.eager_launches[static_cast<std::size_t>(line.launch)];
    if (!names(launch, buffer)) continue;
    if (line.kind == model::AlignmentKind::kMissing) {
      if (others_write(facts, buffer)) continue;
      node_is_there = false;
      return &launch;
    }
    if (line.segment < 0 || line.node < 0) continue;
    const model::Work& node = facts.segments[static_cast<std::size_t>(line.segment)]
                                  .nodes[static_cast<std::size_t>(line.node)];
    // A copy to another address is a frozen address, not a write that was left out.
    if ((!names(node, buffer) && !node.copy) || lost_pointer(launch, node)) {
      node_is_there = true;
      return &launch;
    }
  }
  node_is_there = false;
  const std::vector<const model::Work*> unknown = lost_unknown(facts);
  return unknown.size() == 1 ? unknown.front() : nullptr;
}

/// Every launch has its node, and an input has moved: the graph writes by a slot mapping of the
/// capture's, which may name no row.
bool reads_elsewhere(const Facts& facts) {
  const bool all_there = std::none_of(
      facts.alignment.begin(), facts.alignment.end(),
      [](const model::Alignment& line) { return line.kind == model::AlignmentKind::kMissing; });
  return all_there &&
         std::any_of(facts.inputs.begin(), facts.inputs.end(), [](const model::InputFacts& input) {
           return !input.is_activation && input.captured_address != 0 &&
                  input.captured_address != input.replay_address;
         });
}

/// The trace shows that the cache's write was lost; true as well where there is no trace to look
/// at.
bool is_lost(const Facts& facts, int cache) {
  const bool named = static_cast<std::size_t>(cache) < facts.cache_buffers.size() &&
                     !facts.cache_buffers[static_cast<std::size_t>(cache)].empty();
  const bool unknown =
      std::any_of(facts.eager_launches.begin(), facts.eager_launches.end(), operands_unknown);
  if (!facts.alignment.empty() && unknown && reads_elsewhere(facts)) return false;
  if (facts.alignment.empty() || !named || unknown) return true;
  bool node_is_there = false;
  return lost_launch(facts, cache, node_is_there) != nullptr;
}

void add_once(std::vector<std::string>& sentences, const std::string& sentence) {
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) {
    sentences.push_back(sentence);
  }
}

/// Says which launches have no node where any of them may be the write; false where none has none.
bool add_unknown_launches(const Facts& facts, model::Where& place, model::Finding& finding) {
  const std::vector<const model::Work*> lost = lost_unknown(facts);
  const std::string places = places_of(lost);
  if (places.empty()) return false;
  place.source = model::if_known(places);
  add_once(finding.evidence,
           fmt::format("{} kernels that eager launches have no node and run in no eager break: {}",
                       lost.size(), places));
  return true;
}

/// Says what became of the launch that writes the cache; false where the trace shows no loss.
bool add_launch_evidence(const Facts& facts, int cache, model::Where& place,
                         model::Finding& finding) {
  if (static_cast<std::size_t>(cache) >= facts.cache_buffers.size()) return false;
  if (facts.cache_buffers[static_cast<std::size_t>(cache)].empty()) return false;
  bool node_is_there = false;
  const model::Work* launch = lost_launch(facts, cache, node_is_there);
  if (launch == nullptr) return add_unknown_launches(facts, place, finding);
  place.kernel = launch->name;
  place.source = model::if_known(launch->source);
  const std::string sentence =
      node_is_there
          ? fmt::format("eager launches {} on {}; its node lacks that memory or another operand",
                        model::with_source(launch->name, launch->source),
                        facts.cache_buffers[static_cast<std::size_t>(cache)])
          : fmt::format("eager launches {}; no node of the graph and no eager break does",
                        model::with_source(launch->name, launch->source));
  add_once(finding.evidence, sentence);
  return true;
}

int cache_index(const Facts& facts, const model::Where& place) {
  for (std::size_t i = 0; i < facts.caches.size(); ++i) {
    if (facts.caches[i].kind == place.cache && facts.caches[i].layer == place.layer) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

class ElidedWriteProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const Facts& facts) const override;
  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override;
};

std::vector<diagnose::Suspicion> ElidedWriteProbe::recognise(const Facts& facts) const {
  std::vector<RowDifference> rows = missing_rows(facts);
  const std::set<int> caches = steadily_missing(facts, rows);
  std::erase_if(rows, [&](const RowDifference& row) {
    return !caches.contains(row.cache) || !is_lost(facts, row.cache);
  });
  if (rows.empty()) return {};
  diagnose::Suspicion suspicion;
  model::Finding& finding = suspicion.finding;
  finding.mechanism = "elided-write";
  finding.first_step = rows.front().step;
  finding.where = where_of(facts, rows);
  const std::string caches_text = cache_list(finding.where);
  std::set<int> steps;
  for (const RowDifference& row : rows) steps.insert(row.step);
  finding.evidence.push_back(fmt::format(
      "{} rows of {} that the slot mapping names are written by eager and by no replay, "
      "in {} of {} replays",
      rows.size(), caches_text, steps.size(), facts.replays));
  const RowDifference& first = rows.front();
  const model::CacheLayout& layout = facts.caches[static_cast<std::size_t>(first.cache)];
  // The carried pass places no pattern, and what was there before is then not known by digest.
  const std::string before = first.graph == model::Digest{}
                                 ? std::string{"the replay does not change it"}
                                 : fmt::format(
                                       "the bytes placed there before the replay are still "
                                       "there (digest {})",
                                       model::to_hex(first.graph));
  finding.evidence.push_back(fmt::format("step {}, {}, {}: {}, eager has {}", first.step,
                                         layout.name, row_name(layout, first.row), before,
                                         model::to_hex(first.eager)));
  bool lost = false;
  for (model::Where& place : finding.where) {
    const int cache = cache_index(facts, place);
    if (cache >= 0) lost = add_launch_evidence(facts, cache, place, finding) || lost;
  }
  finding.summary = fmt::format(
      "the graph never writes {}: {}", caches_text,
      lost ? "the write was not recorded at capture, so every replay leaves the rows as they were"
           : "no replay changes the rows that the slot mapping names");
  if (facts.padded_eager_ran &&
      std::none_of(rows.begin(), rows.end(),
                   [](const RowDifference& row) { return row.padded_eager_shows_it; })) {
    finding.evidence.push_back(
        "the same padded buffers run eagerly write every row: padding is not the cause");
  }
  finding.evidence.push_back(
      fmt::format("the graph was captured with metadata: {}", facts.capture_metadata));
  finding.fix =
      "Pass the slot mapping to the write explicitly, as a device buffer that is refilled in "
      "place; "
      "or build metadata at capture; or make the write an eager break. A write must not return "
      "silently when there is no metadata.";
  suspicion.rows = keys_of(rows);
  suspicion.confirm = {{.change = diagnose::Change::kLiveCapture, .names = {}, .nodes = {}}};
  return {std::move(suspicion)};
}

std::optional<std::string> ElidedWriteProbe::rule_out(const Facts& facts) const {
  const bool missing = std::any_of(
      facts.rows.begin(), facts.rows.end(),
      [](const RowDifference& row) { return row.row_class == model::RowClass::kMissing; });
  if (missing || facts.writes.empty()) return std::nullopt;
  std::size_t rows = 0;
  for (const model::WriteSets& sets : facts.writes) rows += sets.expected.size();
  return fmt::format("every one of the {} rows that the slot mapping names is written by the graph",
                     rows);
}

}  // namespace

std::unique_ptr<diagnose::Probe> make_elided_write_probe() {
  return std::make_unique<ElidedWriteProbe>();
}

}  // namespace graphsan::probes
