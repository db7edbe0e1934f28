#include "trace/alignment.hpp"

#include <cstddef>
#include <optional>

#include "trace/differing_scalars.hpp"
#include "trace/longest_match.hpp"

namespace graphsan::trace {
namespace {

/// What runs in a replay: a node of a segment, or work of a break (segment -1).
struct Place {
  const model::Work* work = nullptr;
  int segment = -1;
};

bool takes_part(const model::Work& work) {
  return work.type == model::NodeType::kKernel || work.type == model::NodeType::kMemcpy ||
         work.type == model::NodeType::kMemset;
}

int fit(const model::Work& launch, const model::Work& node) {
  if (launch.type != node.type || launch.name != node.name) return 0;
  if (launch.source == node.source) return 2;
  return launch.source.empty() || node.source.empty() ? 1 : 0;
}

std::vector<Place> places_of(std::span<const model::GraphSegment> segments) {
  std::vector<Place> places;
  for (const model::GraphSegment& segment : segments) {
    for (const model::Work& node : segment.nodes) {
      if (takes_part(node)) places.push_back({&node, segment.segment});
    }
  }
  return places;
}

model::Alignment line(const model::Work& work, model::AlignmentKind kind) {
  model::Alignment alignment;
  alignment.kind = kind;
  alignment.name = work.name;
  alignment.source = work.source;
  return alignment;
}

model::Alignment compare(int launch, const model::Work& eager, const Place& place) {
  const model::Work& node = *place.work;
  model::Alignment alignment = line(eager, model::AlignmentKind::kMatched);
  alignment.launch = launch;
  alignment.segment = place.segment;
  alignment.node = node.id;
  alignment.differing_fields = differing_scalars(eager, node);
  if (!alignment.differing_fields.empty()) alignment.kind = model::AlignmentKind::kOtherArguments;
  if (eager.grid != node.grid || eager.block != node.block) {
    alignment.kind = model::AlignmentKind::kOtherGrid;
  }
  if (alignment.source.empty()) alignment.source = node.source;
  return alignment;
}

model::Alignment extra(const Place& place) {
  model::Alignment alignment = line(*place.work, model::AlignmentKind::kExtra);
  alignment.segment = place.segment;
  alignment.node = place.work->id;
  return alignment;
}

class Aligner {
 public:
  Aligner(std::span<const model::Work> eager, std::span<const model::GraphSegment> segments,
          std::span<const model::Work> break_work)
      : eager_{eager}, nodes_{places_of(segments)}, in_graph_(eager.size()) {
    for (const model::Work& work : break_work) {
      if (takes_part(work)) breaks_.push_back({&work, -1});
    }
    in_break_.resize(eager.size());
    assign(nodes_, in_graph_);
    assign(breaks_, in_break_);
  }

  std::vector<model::Alignment> lines() const {
    std::vector<model::Alignment> result;
    std::size_t next_node = 0;
    for (std::size_t launch = 0; launch < eager_.size(); ++launch) {
      if (!takes_part(eager_[launch])) continue;
      if (in_graph_[launch]) add_extras(result, next_node, *in_graph_[launch]);
      result.push_back(line_of(launch));
    }
    add_extras(result, next_node, nodes_.size());
    add_break_extras(result);
    return result;
  }

 private:
  using Assignment = std::vector<std::optional<std::size_t>>;

  /// Assigns launches that have no place yet to `places`.
  void assign(const std::vector<Place>& places, Assignment& assignment) {
    std::vector<std::size_t> open;
    for (std::size_t launch = 0; launch < eager_.size(); ++launch) {
      if (takes_part(eager_[launch]) && !in_graph_[launch]) open.push_back(launch);
    }
    const auto fit_of = [&](std::size_t left, std::size_t right) {
      return fit(eager_[open[left]], *places[right].work);
    };
    for (const auto& [left, right] : longest_match(open.size(), places.size(), fit_of)) {
      assignment[open[left]] = right;
    }
  }

  model::Alignment line_of(std::size_t launch) const {
    const model::Work& work = eager_[launch];
    const int index = static_cast<int>(launch);
    if (in_graph_[launch]) return compare(index, work, nodes_[*in_graph_[launch]]);
    if (in_break_[launch]) return compare(index, work, breaks_[*in_break_[launch]]);
    model::Alignment missing = line(work, model::AlignmentKind::kMissing);
    missing.launch = index;
    return missing;
  }

  /// The nodes before `matched` that no launch has, then steps over `matched`.
  void add_extras(std::vector<model::Alignment>& result, std::size_t& next,
                  std::size_t matched) const {
    for (; next < matched; ++next) result.push_back(extra(nodes_[next]));
    next = matched + 1;
  }

  void add_break_extras(std::vector<model::Alignment>& result) const {
    std::vector<bool> taken(breaks_.size(), false);
    for (const auto& place : in_break_) {
      if (place) taken[*place] = true;
    }
    for (std::size_t i = 0; i < breaks_.size(); ++i) {
      if (!taken[i]) result.push_back(extra(breaks_[i]));
    }
  }

  std::span<const model::Work> eager_;
  std::vector<Place> nodes_;
  std::vector<Place> breaks_;
  Assignment in_graph_;
  Assignment in_break_;
};

}  // namespace

std::vector<model::Alignment> align(std::span<const model::Work> eager,
                                    std::span<const model::GraphSegment> segments,
                                    std::span<const model::Work> break_work) {
  return Aligner{eager, segments, break_work}.lines();
}

}  // namespace graphsan::trace
