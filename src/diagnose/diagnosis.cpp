#include "diagnose/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "device/error.hpp"
#include "diagnose/exclusions.hpp"

namespace graphsan::diagnose {

namespace {

/// Runs one intervention; a device that refuses makes it not runnable, a lost device does not.
ExperimentResult try_run(const Intervention& intervention, std::span<const RowKey> rows,
                         Experiments& experiments) {
  try {
    return experiments.run(intervention, rows);
  } catch (const device::DeviceError& error) {
    if (error.kind() == device::ErrorKind::kSticky) throw;
    return NotRunnable{error.what()};
  }
}

std::string outcome_text(Change change, std::uint64_t hit, std::uint64_t rows) {
  return fmt::format("{} of {} {}", hit, rows, counts_changes(change) ? "changed" : "right");
}

model::ExperimentRecord record_of(const Intervention& intervention,
                                  const ExperimentResult& result) {
  model::ExperimentRecord record;
  const Change change = intervention.change;
  record.name = name_of(change);
  record.change = record.name;
  if (!intervention.names.empty()) {
    record.change += fmt::format(" ({})", fmt::join(intervention.names, ", "));
  }
  if (const auto* reason = std::get_if<NotRunnable>(&result)) {
    record.not_runnable = reason->reason;
    return record;
  }
  const auto& outcome = std::get<Outcome>(result);
  record.repeats = outcome.repeats;
  record.made_right = outcome.confirms();
  record.outcome =
      fmt::format("{}, {} repeat{}", outcome_text(change, outcome.hit_with_change, outcome.rows),
                  outcome.repeats, outcome.repeats == 1 ? "" : "s");
  record.sham_outcome = fmt::format("{}: {}", sham_name_of(change),
                                    outcome_text(change, outcome.hit_in_sham, outcome.rows));
  return record;
}

/// What became of a suspicion once its experiments had their say.
struct Conclusion {
  model::Finding finding;
  bool refuted = false;
  std::string refutation;
};

/// Asks the experiments of one suspicion, in order, until one cannot be run or does not confirm.
Conclusion conclude(const model::Facts& facts, const Suspicion& suspicion, Experiments* experiments,
                    std::string_view why_not, std::vector<model::ExperimentRecord>& log) {
  Conclusion conclusion{suspicion.finding, false, {}};
  model::Finding& finding = conclusion.finding;
  if (suspicion.confirm.empty()) return conclusion;
  finding.status = model::FindingStatus::kSuspected;
  if (experiments == nullptr) {
    finding.not_runnable = why_not;
    return conclusion;
  }
  std::vector<std::string> did;
  std::vector<std::string> shams;
  for (const Intervention& intervention : suspicion.confirm) {
    const ExperimentResult result = try_run(intervention, suspicion.rows, *experiments);
    const model::ExperimentRecord record = record_of(intervention, result);
    log.push_back(record);
    if (!record.not_runnable.empty()) {
      finding.not_runnable = fmt::format("{}: {}", record.name, record.not_runnable);
      return conclusion;
    }
    const auto& outcome = std::get<Outcome>(result);
    finding.evidence.insert(finding.evidence.end(), outcome.observations.begin(),
                            outcome.observations.end());
    if (outcome.supports()) {
      finding.not_runnable = fmt::format(
          "earlier damage spoils the same rows, so that nothing alone can make them "
          "right; {}: {}; {}",
          record.change, record.outcome, record.sham_outcome);
      return conclusion;
    }
    if (!record.made_right) {
      finding.not_runnable = fmt::format("{} did not confirm it: {}; {}", record.name,
                                         record.outcome, record.sham_outcome);
      // Where eager differs from itself, no row can be expected to become right; and a change that
      // hits them all, and more than the sham, refutes nothing.
      const bool hits_all =
          outcome.hit_with_change == outcome.rows && outcome.hit_with_change > outcome.hit_in_sham;
      const bool tells = outcome.rows > 0 && outcome.repeats > 0 && !hits_all &&
                         (!facts.stability.ran || facts.stability.stable);
      conclusion.refuted = suspicion.refutable && tells;
      conclusion.refutation =
          fmt::format("{}: {}; {}", record.change, record.outcome, record.sham_outcome);
      return conclusion;
    }
    did.push_back(fmt::format("{}: {}", record.change, record.outcome));
    shams.push_back(record.sham_outcome);
  }
  finding.status = model::FindingStatus::kConfirmed;
  finding.experiment = fmt::format("{}", fmt::join(did, "; "));
  finding.sham = fmt::format("{}", fmt::join(shams, "; "));
  return conclusion;
}

/// Asks the probes in order and keeps what is explained already from those that follow.
class Diagnostician {
 public:
  Diagnostician(const model::Facts& facts, const ProbeRegistry& registry, Experiments* experiments,
                std::string_view why_not)
      : facts_{facts}, registry_{registry}, experiments_{experiments}, why_not_{why_not} {}

  Diagnosis run() {
    for (const std::string& id : registry_.ids()) ask(id);
    ask_again();
    std::stable_sort(out_.findings.begin(), out_.findings.end(),
                     [](const model::Finding& a, const model::Finding& b) {
                       return a.first_step < b.first_step;
                     });
    if (out_.findings.empty() && facts_.rows.empty() && facts_.top_k.empty() &&
        facts_.outputs.empty()) {
      return std::move(out_);
    }
    list_unexplained();
    rule_out_quiet();
    std::erase_if(out_.ruled_out,
                  [&](const model::RuledOut& out) { return is_found(out.mechanism); });
    return std::move(out_);
  }

 private:
  void ask(const std::string& id) {
    bool quiet = true;
    for (Suspicion& suspicion : registry_.find(id)->recognise(facts_)) {
      const std::size_t named = suspicion.rows.size();
      drop_explained(suspicion);
      if (named != 0 && suspicion.rows.empty()) continue;
      quiet = false;
      settle(id, std::move(suspicion));
    }
    if (quiet) quiet_.push_back(id);
  }

  void settle(const std::string& id, Suspicion suspicion) {
    Conclusion conclusion = conclude(facts_, suspicion, experiments_, why_not_, out_.experiments);
    if (conclusion.refuted) {
      refuted_.insert(id);
      out_.ruled_out.push_back({id, conclusion.refutation});
      open_.emplace_back(id, std::move(suspicion));
      return;
    }
    if (conclusion.finding.status == model::FindingStatus::kConfirmed) {
      explained_.insert(suspicion.rows.begin(), suspicion.rows.end());
      name_writers(conclusion.finding, suspicion.rows);
    }
    claimed_.insert(suspicion.rows.begin(), suspicion.rows.end());
    out_.findings.push_back(std::move(conclusion.finding));
  }

  /// What a finding that names no single difference says of itself covers its caches and layers.
  [[nodiscard]] bool is_claimed(const RowKey& key, model::CacheKind kind, int layer) const {
    if (claimed_.contains(key) || is_withheld(key)) return true;
    return std::any_of(out_.findings.begin(), out_.findings.end(),
                       [&](const model::Finding& finding) {
                         return std::any_of(finding.where.begin(), finding.where.end(),
                                            [&](const model::Where& place) {
                                              return place.cache == kind && place.layer == layer;
                                            });
                       });
  }

  void list_unexplained() {
    if (out_.findings.empty()) return;
    const auto consider = [&](const RowKey& key, model::CacheKind kind, int layer) {
      if (!is_claimed(key, kind, layer)) out_.unexplained.push_back(key);
    };
    for (const model::RowDifference& row : facts_.rows) {
      if (model::is_consequence(facts_, row)) continue;
      const model::CacheLayout& layout = facts_.caches[static_cast<std::size_t>(row.cache)];
      consider({row.step, row.cache, row.row}, layout.kind, layout.layer);
    }
    for (const model::TopKDifference& top_k : facts_.top_k) {
      if (top_k.carried || model::is_consequence(facts_, top_k)) continue;
      consider({top_k.step, top_k.layer, top_k.lane, SpotKind::kSelection}, model::CacheKind::kTopK,
               top_k.layer);
    }
    for (const model::OutputDifference& output : facts_.outputs) {
      if (output.carried || model::is_consequence(facts_, output)) continue;
      consider({output.step, output.layer, output.lane, SpotKind::kOutput},
               model::CacheKind::kOutput, output.layer);
    }
  }

  /// A suspicion may have been refuted for differences that are another mechanism's: it is asked
  /// once more over what no finding explains.
  void ask_again() {
    for (auto& [id, suspicion] : std::exchange(open_, {})) {
      const std::size_t named = suspicion.rows.size();
      drop_explained(suspicion);
      if (suspicion.rows.empty() || suspicion.rows.size() == named) continue;
      std::erase_if(out_.ruled_out,
                    [&id = id](const model::RuledOut& out) { return out.mechanism == id; });
      settle(id, std::move(suspicion));
    }
  }

  /// Finds the node that last changes a row of each cache for which the recogniser named none.
  void name_writers(model::Finding& finding, const std::vector<RowKey>& rows) {
    if (experiments_ == nullptr) return;
    for (model::Where& place : finding.where) {
      if (place.node || place.kernel) continue;
      const RowKey* row = changed_row(place, rows);
      if (row == nullptr) continue;
      const std::optional<Writer> writer = try_writer(*row);
      if (!writer) continue;
      const model::Work& node = facts_.segments[static_cast<std::size_t>(writer->node.segment)]
                                    .nodes[static_cast<std::size_t>(writer->node.node)];
      place.node = node.id;
      place.kernel = node.name;
      place.source = model::if_known(node.source);
      finding.evidence.push_back(fmt::format(
          "prefix replay: node {} {} is the last that changes a row of layer {} {}, found in "
          "{} replays",
          node.id, model::with_source(node.name, node.source), place.layer, to_string(place.cache),
          writer->replays));
    }
  }

  [[nodiscard]] std::optional<Writer> try_writer(const RowKey& row) const {
    try {
      return experiments_->writer_of(row);
    } catch (const device::DeviceError& error) {
      if (error.kind() == device::ErrorKind::kSticky) throw;
      return std::nullopt;
    }
  }

  /// A row of the place that the graph changes: a missing one has no writer.
  [[nodiscard]] const RowKey* changed_row(const model::Where& place,
                                          const std::vector<RowKey>& rows) const {
    for (const RowKey& key : rows) {
      if (key.kind != SpotKind::kRow) continue;
      const model::CacheLayout& layout = facts_.caches[static_cast<std::size_t>(key.cache)];
      if (layout.kind != place.cache || layout.layer != place.layer) continue;
      const bool changed =
          std::any_of(facts_.rows.begin(), facts_.rows.end(), [&](const model::RowDifference& row) {
            return row.step == key.step && row.cache == key.cache && row.row == key.row &&
                   row.row_class != model::RowClass::kMissing;
          });
      if (changed) return &key;
    }
    return nullptr;
  }

  void drop_explained(Suspicion& suspicion) const {
    std::erase_if(suspicion.rows,
                  [&](const RowKey& row) { return explained_.contains(row) || is_withheld(row); });
  }

  /// With an eager that differs from itself, missing and stray rows stand, and no value does.
  [[nodiscard]] bool is_withheld(const RowKey& key) const {
    if (!facts_.stability.ran || facts_.stability.stable) return false;
    if (key.kind != SpotKind::kRow) return true;
    return std::none_of(
        facts_.rows.begin(), facts_.rows.end(), [&](const model::RowDifference& row) {
          return row.step == key.step && row.cache == key.cache && row.row == key.row &&
                 (row.row_class == model::RowClass::kMissing ||
                  row.row_class == model::RowClass::kStray);
        });
  }
  [[nodiscard]] bool is_found(const std::string& id) const {
    return std::any_of(out_.findings.begin(), out_.findings.end(),
                       [&](const model::Finding& finding) { return finding.mechanism == id; });
  }
  [[nodiscard]] bool is_settled(const std::string& id) const {
    return refuted_.contains(id) || is_found(id);
  }

  void rule_out_quiet() {
    for (const std::string& id : quiet_) {
      if (std::optional<std::string> why = registry_.find(id)->rule_out(facts_)) {
        out_.ruled_out.push_back({id, std::move(*why)});
        refuted_.insert(id);
      }
    }
    for (model::RuledOut& cleared : rule_out_suspects(facts_)) {
      if (!is_settled(cleared.mechanism)) out_.ruled_out.push_back(std::move(cleared));
    }
  }

  const model::Facts& facts_;
  const ProbeRegistry& registry_;
  Experiments* experiments_;
  std::string_view why_not_;
  Diagnosis out_;
  std::vector<std::string> quiet_;
  std::set<std::string> refuted_;
  std::set<RowKey> explained_;                           ///< by confirmed findings
  std::set<RowKey> claimed_;                             ///< by findings
  std::vector<std::pair<std::string, Suspicion>> open_;  ///< refuted so far
};

}  // namespace

Diagnosis diagnose(const model::Facts& facts, const ProbeRegistry& registry,
                   Experiments* experiments, std::string_view why_not) {
  return Diagnostician{facts, registry, experiments, why_not}.run();
}

}  // namespace graphsan::diagnose
