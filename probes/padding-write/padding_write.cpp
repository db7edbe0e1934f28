#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "probes/differences.hpp"
#include "probes/finding_text.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using model::Facts;
using model::RowDifference;

bool is_stray(const RowDifference& row) { return row.row_class == model::RowClass::kStray; }

const model::StepFacts& step_of(const Facts& facts, const RowDifference& row) {
  return facts.steps[static_cast<std::size_t>(row.step)];
}

/// A stray row that a pad lane can have written: the bucket has pad lanes, and the bytes are a pad
/// lane's or the padded batch run eagerly strays in the same way.
bool is_a_pad_lanes(const Facts& facts, const RowDifference& row) {
  const model::StepFacts& step = step_of(facts, row);
  return is_stray(row) && step.bucket > step.tokens &&
         (row.origin.kind == model::OriginKind::kPadLane || row.padded_eager_shows_it);
}

std::string place_words(const RowDifference& row) {
  std::string words;
  const auto say = [&](const char* text) {
    words += (words.empty() ? "" : ", ") + std::string{text};
  };
  for (const model::Place place : row.places) {
    switch (place) {
      case model::Place::kOrdinary:
        break;
      case model::Place::kLastRow:
        say("the pool's last row");
        break;
      case model::Place::kNullPage:
        say("page 0, the null page");
        break;
      case model::Place::kLiveRow:
        say("live");
        break;
      case model::Place::kEarlierBatch:
        say("written by an earlier step");
        break;
      case model::Place::kGuardZone:
        say("outside the cache, in its guard zone");
        break;
    }
  }
  if (row.owner) {
    say(fmt::format("sequence {} position {}", row.owner->sequence, row.owner->position).c_str());
  }
  return words;
}

/// The first node in creation order that names the cache's memory: a write comes before the reads.
void add_node(const Facts& facts, int cache, model::Where& place) {
  if (static_cast<std::size_t>(cache) >= facts.cache_buffers.size()) return;
  const std::string& buffer = facts.cache_buffers[static_cast<std::size_t>(cache)];
  // Memory that the step names no buffer for, such as a guard zone: an unknown address is not it.
  if (buffer.empty()) return;
  for (const model::GraphSegment& segment : facts.segments) {
    for (const model::Work& node : segment.nodes) {
      const bool named =
          std::any_of(node.addresses.begin(), node.addresses.end(),
                      [&](const model::AddressUse& use) { return use.owner_name == buffer; });
      if (!named) continue;
      place.node = node.id;
      place.kernel = node.name;
      place.source = model::if_known(node.source);
      return;
    }
  }
}

class PaddingWriteProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const Facts& facts) const override;
  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override;
};

std::vector<diagnose::Suspicion> PaddingWriteProbe::recognise(const Facts& facts) const {
  std::vector<RowDifference> rows;
  std::copy_if(facts.rows.begin(), facts.rows.end(), std::back_inserter(rows),
               [&](const RowDifference& row) { return is_a_pad_lanes(facts, row); });
  if (rows.empty()) return {};
  diagnose::Suspicion suspicion;
  model::Finding& finding = suspicion.finding;
  finding.mechanism = "padding-write";
  finding.first_step = rows.front().step;
  finding.where = where_of(facts, rows);
  finding.summary =
      fmt::format("pad lanes write {}: they are not skipped, and rows that no slot names change",
                  cache_list(finding.where));
  const RowDifference& first = rows.front();
  const model::CacheLayout& layout = facts.caches[static_cast<std::size_t>(first.cache)];
  const model::StepFacts& step = step_of(facts, first);
  finding.evidence.push_back(
      fmt::format("step {}: {} {} changes although no lane's slot names it ({})", first.step,
                  layout.name, row_name(layout, first.row), place_words(first)));
  finding.evidence.push_back(
      fmt::format("the batch has {} real lanes in a bucket of {}", step.tokens, step.bucket));
  const auto from_pads = std::count_if(rows.begin(), rows.end(), [](const RowDifference& row) {
    return row.origin.kind == model::OriginKind::kPadLane;
  });
  if (from_pads != 0) {
    finding.evidence.push_back(
        fmt::format("the bytes found there are pad lane {}'s, in {} of {} stray writes",
                    first.origin.lane, from_pads, rows.size()));
  }
  const auto padded = std::count_if(
      rows.begin(), rows.end(), [](const RowDifference& row) { return row.padded_eager_shows_it; });
  if (padded != 0) {
    finding.evidence.push_back(
        fmt::format("the same padded batch run eagerly, without a graph, strays in {} of {} cases: "
                    "padding, not "
                    "capture, brings it about",
                    padded, rows.size()));
  }
  for (model::Where& place : finding.where) {
    for (std::size_t cache = 0; cache < facts.caches.size(); ++cache) {
      if (facts.caches[cache].kind == place.cache && facts.caches[cache].layer == place.layer) {
        add_node(facts, static_cast<int>(cache), place);
        break;
      }
    }
  }
  finding.fix =
      "Skip negative slots in every write, K, V and index-K alike. Advanced indexing "
      "(`cache[slots] = x`) takes -1 as the last row: mask it, or write with a kernel that skips.";
  suspicion.rows = keys_of(rows);
  confirm_by(suspicion, diagnose::Change::kFillBucket);
  // A pad lane may also write something that its values do not enter.
  if (from_pads == static_cast<std::ptrdiff_t>(rows.size())) {
    confirm_by(suspicion, diagnose::Change::kPoisonPadLanes);
  }
  return {std::move(suspicion)};
}

std::optional<std::string> PaddingWriteProbe::rule_out(const Facts& facts) const {
  if (std::any_of(facts.rows.begin(), facts.rows.end(), is_stray)) return std::nullopt;
  std::uint64_t written = 0;
  bool padded = false;
  for (const model::WriteSets& sets : facts.writes) written += sets.graph.size();
  for (const model::StepFacts& step : facts.steps) padded = padded || step.bucket > step.tokens;
  return fmt::format(
      "no row outside the slot mapping changed, guard zones included ({} rows were "
      "written{})",
      written, padded ? ", with pad lanes in the batch" : "");
}

}  // namespace

std::unique_ptr<diagnose::Probe> make_padding_write_probe() {
  return std::make_unique<PaddingWriteProbe>();
}

}  // namespace graphsan::probes
