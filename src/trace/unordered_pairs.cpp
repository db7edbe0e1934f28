#include "trace/unordered_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace graphsan::trace {
namespace {

/// reaches[a][b]: some path of edges leads from a to b. Nodes are in creation order, and edges of a
/// capture point forward.
std::vector<std::vector<bool>> reachability(const model::GraphSegment& segment) {
  const std::size_t count = segment.nodes.size();
  std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
  for (std::size_t from = count; from-- > 0;) {
    for (const model::GraphEdge& edge : segment.edges) {
      if (edge.from != static_cast<int>(from)) continue;
      const auto to = static_cast<std::size_t>(edge.to);
      reaches[from][to] = true;
      for (std::size_t further = 0; further < count; ++further) {
        if (reaches[to][further]) reaches[from][further] = true;
      }
    }
  }
  return reaches;
}

bool is_written(const model::Work& node, const model::AddressUse& use) {
  if (node.copy || node.fill) return use.field == "destination";
  return std::ranges::any_of(node.fields, [&](const model::ArgumentField& field) {
    return field.is_written && field.offset == use.offset;
  });
}

/// A buffer that a node names, and what the node does to it.
struct Touch {
  std::string name;
  bool written = false;
  bool may_be_written = false;  ///< nobody declares what the node does with its pointers
};

/// Code whose author declared no argument.
bool is_foreign(const model::Work& node) {
  return node.type == model::NodeType::kKernel && node.fields.empty() && !node.arguments.empty();
}

/// By first address of the buffer.
std::map<std::uint64_t, Touch> touches(const model::Work& node) {
  std::map<std::uint64_t, Touch> buffers;
  for (const model::AddressUse& use : node.addresses) {
    if (use.address == 0 || use.block == 0) continue;
    Touch& touch = buffers[use.block];
    touch.name = use.owner_name;
    touch.written = touch.written || is_written(node, use);
    touch.may_be_written = touch.may_be_written || is_foreign(node);
  }
  return buffers;
}

/// A buffer that both touch and one writes or, where none is known to, may write.
struct Conflict {
  const std::string* buffer = nullptr;
  bool declared = false;
};

Conflict conflict(const std::map<std::uint64_t, Touch>& a,
                  const std::map<std::uint64_t, Touch>& b) {
  Conflict possible;
  for (const auto& [block, touch] : a) {
    const auto other = b.find(block);
    if (other == b.end()) continue;
    if (touch.written || other->second.written) return {&touch.name, true};
    if (touch.may_be_written || other->second.may_be_written) possible.buffer = &touch.name;
  }
  return possible;
}

}  // namespace

std::vector<model::UnorderedPair> unordered_pairs(const model::GraphSegment& segment) {
  std::vector<model::UnorderedPair> pairs;
  const std::size_t count = segment.nodes.size();
  // A chain, as a capture of one stream gives it, orders everything.
  const bool chain = std::ranges::all_of(
      segment.edges, [](const model::GraphEdge& edge) { return edge.to == edge.from + 1; });
  if (chain && segment.edges.size() + 1 >= count) return pairs;
  const std::vector<std::vector<bool>> reaches = reachability(segment);
  std::vector<std::map<std::uint64_t, Touch>> touched;
  for (const model::Work& node : segment.nodes) touched.push_back(touches(node));
  for (std::size_t first = 0; first < count; ++first) {
    for (std::size_t second = first + 1; second < count; ++second) {
      if (reaches[first][second] || reaches[second][first]) continue;
      const Conflict found = conflict(touched[first], touched[second]);
      if (found.buffer == nullptr) continue;
      pairs.push_back({segment.segment, static_cast<int>(first), static_cast<int>(second),
                       *found.buffer, found.declared});
    }
  }
  std::stable_partition(pairs.begin(), pairs.end(),
                        [](const model::UnorderedPair& pair) { return pair.declared; });
  return pairs;
}

}  // namespace graphsan::trace
