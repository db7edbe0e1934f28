#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "run/consequences.hpp"

namespace graphsan::run {

namespace {

using Ids = std::vector<int>;

/// The ids of one head of one lane, as they lie in memory.
Ids ids_of(const OutputRows& rows, std::size_t lane, std::size_t head) {
  const auto k = static_cast<std::size_t>(rows.layout.dim);
  std::vector<std::int32_t> raw(k);
  std::memcpy(raw.data(), rows.lanes[lane].data() + head * k * sizeof(std::int32_t),
              k * sizeof(std::int32_t));
  Ids ids;
  for (const std::int32_t id : raw) {
    if (id != -1) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

float score_of(const step::ReferenceSelection* selection, std::size_t head, std::size_t lane,
               int block) {
  if (selection == nullptr || block < 0 || block >= selection->blocks) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const auto row = head * static_cast<std::size_t>(selection->lanes) + lane;
  return selection
      ->scores[row * static_cast<std::size_t>(selection->blocks) + static_cast<std::size_t>(block)];
}

Ids reference_ids(const step::ReferenceSelection& selection, std::size_t head, std::size_t lane) {
  const auto k = static_cast<std::size_t>(selection.k);
  const auto row = head * static_cast<std::size_t>(selection.lanes) + lane;
  Ids ids;
  for (std::size_t i = 0; i < k; ++i) {
    if (const int id = selection.ids[row * k + i]; id != -1) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The selection of one layer in a step's log, or null.
const step::ReferenceSelection* selection_of(const StepLog& log, int which) {
  return which < static_cast<int>(log.selections.size())
             ? &log.selections[static_cast<std::size_t>(which)]
             : nullptr;
}

bool is_run(const Ids& ids, int first) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != first + static_cast<int>(i)) return false;
  }
  return !ids.empty();
}

class SelectionComparer {
 public:
  SelectionComparer(const ArmLog& eager, const ArmLog& graph, float noise, bool carried)
      : eager_{eager}, graph_{graph}, noise_{noise}, carried_{carried} {}

  void compare_step(std::size_t step, std::vector<model::TopKDifference>& out) const {
    int which = 0;
    for (std::size_t i = 0; i < eager_.steps[step].outputs.size(); ++i) {
      const OutputRows& rows = eager_.steps[step].outputs[i];
      if (rows.layout.kind != model::CacheKind::kTopK) continue;
      for (std::size_t lane = 0; lane < rows.lanes.size(); ++lane) {
        for (std::int64_t head = 0; head < rows.layout.heads; ++head) {
          compare_row(step, i, which, lane, static_cast<std::size_t>(head), out);
        }
      }
      ++which;
    }
  }

 private:
  void compare_row(std::size_t step, std::size_t output, int which, std::size_t lane,
                   std::size_t head, std::vector<model::TopKDifference>& out) const {
    const OutputRows& rows = eager_.steps[step].outputs[output];
    const Ids eager = ids_of(rows, lane, head);
    const Ids graph = ids_of(graph_.steps[step].outputs[output], lane, head);
    if (eager == graph) return;
    model::TopKDifference difference;
    difference.step = static_cast<int>(step);
    difference.layer = rows.layout.layer;
    difference.lane = static_cast<int>(lane);
    difference.head = static_cast<int>(head);
    difference.carried = carried_;
    difference.eager_ids = eager;
    difference.graph_ids = graph;
    std::set_difference(eager.begin(), eager.end(), graph.begin(), graph.end(),
                        std::back_inserter(difference.only_eager));
    std::set_difference(graph.begin(), graph.end(), eager.begin(), eager.end(),
                        std::back_inserter(difference.only_graph));
    const step::ReferenceSelection* ours = selection_of(eager_.steps[step], which);
    const step::ReferenceSelection* theirs = selection_of(graph_.steps[step], which);
    add_scores(difference, ours, theirs);
    if (theirs != nullptr) {
      difference.reproduced_from_graph_cache = reference_ids(*theirs, head, lane) == graph;
    }
    difference.kind = kind_of(difference, step, output, ours);
    out.push_back(std::move(difference));
  }

  void add_scores(model::TopKDifference& difference, const step::ReferenceSelection* ours,
                  const step::ReferenceSelection* theirs) const {
    float lowest = std::numeric_limits<float>::infinity();
    float highest = -std::numeric_limits<float>::infinity();
    const auto lane = static_cast<std::size_t>(difference.lane);
    const auto head = static_cast<std::size_t>(difference.head);
    for (const int id : difference.only_eager) {
      difference.eager_scores.push_back(score_of(ours, head, lane, id));
      difference.graph_scores.push_back(score_of(theirs, head, lane, id));
      lowest = std::min(lowest, difference.eager_scores.back());
    }
    for (const int id : difference.only_graph) {
      difference.eager_scores.push_back(score_of(ours, head, lane, id));
      difference.graph_scores.push_back(score_of(theirs, head, lane, id));
      highest = std::max(highest, difference.eager_scores.back());
    }
    difference.margin = lowest - highest;
  }

  [[nodiscard]] model::TopKKind kind_of(const model::TopKDifference& difference, std::size_t step,
                                        std::size_t output,
                                        const step::ReferenceSelection* ours) const {
    const Ids& graph = difference.graph_ids;
    const std::set<int> unique(graph.begin(), graph.end());
    if (ours != nullptr && (graph.empty() || graph.front() < 0 || graph.back() >= ours->blocks)) {
      return model::TopKKind::kOutOfRange;
    }
    if (unique.size() != graph.size()) return model::TopKKind::kDuplicate;
    const bool same_size = difference.only_eager.size() == difference.only_graph.size();
    // The margin is eager's: equal scores in the graph alone excuse nothing.
    if (ours != nullptr && same_size && std::isfinite(difference.margin) &&
        std::abs(difference.margin) <= noise_) {
      return model::TopKKind::kTie;
    }
    const int newest = difference.eager_ids.empty() ? 0 : difference.eager_ids.back();
    if (is_run(graph, 0) || is_run(graph, newest - static_cast<int>(graph.size()) + 1)) {
      return model::TopKKind::kTrivial;
    }
    const auto head = static_cast<std::size_t>(difference.head);
    const OutputRows& rows = eager_.steps[step].outputs[output];
    for (std::size_t lane = 0; lane < rows.lanes.size(); ++lane) {
      if (static_cast<int>(lane) != difference.lane && ids_of(rows, lane, head) == graph) {
        return model::TopKKind::kOtherLane;
      }
    }
    for (std::size_t earlier = 0; earlier < step; ++earlier) {
      const OutputRows* before = eager_.steps[earlier].find_output(rows.layout);
      if (before != nullptr && static_cast<std::size_t>(difference.lane) < before->lanes.size() &&
          ids_of(*before, static_cast<std::size_t>(difference.lane), head) == graph) {
        return model::TopKKind::kEarlier;
      }
    }
    return model::TopKKind::kMismatch;
  }

  const ArmLog& eager_;
  const ArmLog& graph_;
  float noise_;
  bool carried_;
};

}  // namespace

std::vector<model::TopKDifference> compare_selections(const std::vector<model::StepFacts>& steps,
                                                      const ArmLog& eager, const ArmLog& graph,
                                                      float noise, bool carried) {
  std::vector<model::TopKDifference> out;
  const SelectionComparer comparer{eager, graph, noise, carried};
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (steps[step].covered || carried) comparer.compare_step(step, out);
  }
  return out;
}

}  // namespace graphsan::run
