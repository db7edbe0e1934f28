#include "diagnose/second_capture.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "diagnose/graph_match.hpp"
#include "trace/address_scan.hpp"
#include "trace/alignment.hpp"
#include "trace/graph_walk.hpp"

namespace graphsan::diagnose {

namespace {

constexpr std::uint32_t kWord = 4;

/// A word, or what is left of the argument, of a parameter buffer at `offset`; empty where no
/// argument reaches it.
std::span<std::byte> word_at(model::Work& work, std::uint32_t offset) {
  for (model::KernelArgument& argument : work.arguments) {
    const std::size_t end = argument.offset + argument.bytes.size();
    if (offset < argument.offset || offset >= end) continue;
    const std::size_t at = offset - argument.offset;
    return std::span{argument.bytes}.subspan(at, std::min<std::size_t>(kWord, end - offset));
  }
  return {};
}

/// Calls `visit(launch, node)` for each launch that a node of the segments corresponds to.
template <typename Visit>
void for_each_pair(std::vector<model::Work>& launches,
                   std::span<const model::GraphSegment> segments, const Visit& visit) {
  for (const model::Alignment& line : trace::align(launches, segments, {})) {
    if (line.launch < 0 || line.segment < 0) continue;
    visit(launches[static_cast<std::size_t>(line.launch)], NodeOf{line.segment, line.node});
  }
}

}  // namespace

const LiveNodes& SecondCapture::at(int step) {
  const auto known = at_.find(step);
  if (known != at_.end()) return known->second;
  find_noise();
  step::CaptureRequest request;
  request.metadata = step::CaptureMetadata::kLive;
  request.live_step = step;
  LiveNodes live = capture(request, step);
  silence(live);
  return at_.emplace(step, std::move(live)).first->second;
}

LiveNodes SecondCapture::capture(const step::CaptureRequest& request, int step) {
  captures_.push_back(runner_.capture(request, run_.capture.after_history));
  const run::Capture& made = captures_.back();
  std::vector<device::GraphRef> graphs;
  for (const step::Segment& segment : made.step->segments(step)) graphs.push_back(segment.graph);
  const device::AddressMap map = runner_.step().addresses();
  LiveNodes live;
  for (trace::GraphWalk& walk : trace::walk_segments(runner_.device(), graphs, made.work)) {
    for (model::Work& node : walk.segment.nodes) {
      node.addresses = trace::scan_addresses(node, map, 0, &runner_.device());
      node.id = static_cast<int>(live.works.size());
      live.works.push_back(std::move(node));
    }
  }
  for (const device::GraphRef& graph : graphs) {
    if (!graph) continue;
    std::vector<device::NodeInfo> nodes = runner_.device().nodes(graph);
    std::move(nodes.begin(), nodes.end(), std::back_inserter(live.nodes));
  }
  return live;
}

void SecondCapture::find_noise() {
  if (std::exchange(knows_noise_, true)) return;
  // Another bucket's capture passes other words as a matter of course.
  int shown = 0;
  const int steps = static_cast<int>(run_.facts.steps.size());
  while (shown < steps && !replays_shown_nodes(runner_, run_, shown)) ++shown;
  if (shown == steps) return;
  LiveNodes again = capture({}, shown);
  for_each_pair(again.works, run_.facts.segments, [&](model::Work& theirs, const NodeOf& at) {
    model::Work ours = run_.facts.segments[static_cast<std::size_t>(at.segment)]
                           .nodes[static_cast<std::size_t>(at.node)];
    for (const model::KernelArgument& argument : theirs.arguments) {
      for (std::uint32_t word = 0; word < argument.bytes.size(); word += kWord) {
        const std::uint32_t offset = argument.offset + word;
        const std::span<const std::byte> before = word_at(ours, offset);
        const std::span<const std::byte> now = word_at(theirs, offset);
        if (before.empty() || std::equal(before.begin(), before.end(), now.begin(), now.end())) {
          continue;
        }
        noise_.emplace(WordOf{at, offset}, std::vector<std::byte>(before.begin(), before.end()));
      }
    }
  });
}

void SecondCapture::silence(LiveNodes& live) const {
  for_each_pair(live.works, run_.facts.segments, [&](model::Work& work, const NodeOf& at) {
    for (auto word = noise_.lower_bound({at, 0}); word != noise_.end() && word->first.node == at;
         ++word) {
      const std::span<std::byte> bytes = word_at(work, word->first.offset);
      if (bytes.size() == word->second.size()) {
        std::copy(word->second.begin(), word->second.end(), bytes.begin());
      }
    }
  });
}

}  // namespace graphsan::diagnose
