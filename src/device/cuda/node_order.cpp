#include "device/cuda/node_order.hpp"

#include <functional>
#include <queue>

#include "device/error.hpp"

namespace graphsan::device {

std::vector<std::size_t> stable_topological_order(
    std::size_t count, std::span<const std::pair<std::size_t, std::size_t>> edges) {
  std::vector<std::vector<std::size_t>> followers(count);
  std::vector<std::size_t> waiting_for(count, 0);
  for (const auto& [from, to] : edges) {
    if (from >= count || to >= count) {
      throw DeviceError{ErrorKind::kInvalidArgument, "an edge names a node outside its graph"};
    }
    followers[from].push_back(to);
    ++waiting_for[to];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t node = 0; node < count; ++node) {
    if (waiting_for[node] == 0) ready.push(node);
  }
  std::vector<std::size_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const std::size_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const std::size_t follower : followers[node]) {
      if (--waiting_for[follower] == 0) ready.push(follower);
    }
  }
  if (order.size() != count) {
    throw DeviceError{ErrorKind::kInvalidArgument, "the edges of the graph form a cycle"};
  }
  return order;
}

}  // namespace graphsan::device
