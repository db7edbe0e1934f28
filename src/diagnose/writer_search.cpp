#include <map>
#include <utility>
#include <vector>

#include "diagnose/graph_match.hpp"
#include "diagnose/prefix_search.hpp"
#include "diagnose/step_experiments.hpp"

namespace graphsan::diagnose {

std::optional<Writer> StepExperiments::writer_of(const RowKey& row) {
  const std::span<const step::Segment> segments = run_.capture.step->segments(row.step);
  if (!replays_shown_nodes(runner_, run_, row.step)) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> nodes;  // (segment, node) in order
  std::map<void*, std::pair<std::size_t, PrefixExec>> execs;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (!segments[i].graph) continue;
    PrefixExec exec{runner_.device(), segments[i].graph};
    for (std::size_t node = 0; node < exec.nodes(); ++node) nodes.emplace_back(i, node);
    execs.emplace(segments[i].graph.raw, std::pair{nodes.size() - exec.nodes(), std::move(exec)});
  }
  const std::uint64_t final = digests(run_.graph, std::span{&row, 1}).front();
  const PrefixSearch search = search_prefixes(nodes.size(), [&](std::size_t prefix) {
    int current = -1;
    run::PassOptions options;
    options.before_run = [&](int at) { current = at; };
    options.exec_for = [&](const step::Segment& segment) {
      const auto exec = execs.find(segment.graph.raw);
      if (current != row.step || exec == execs.end()) return segment.exec;
      const std::size_t first = exec->second.first;
      return exec->second.second.with_prefix(prefix > first ? prefix - first : 0);
    };
    return digests(replay(run_.capture, options), std::span{&row, 1}).front() == final;
  });
  if (!search.index) return std::nullopt;
  const auto& [segment, node] = nodes[*search.index];
  return Writer{{static_cast<int>(segment), static_cast<int>(node)}, search.replays};
}

}  // namespace graphsan::diagnose
