#include "diagnose/prefix_search.hpp"

#include <algorithm>

namespace graphsan::diagnose {

PrefixSearch search_prefixes(std::size_t count, const std::function<bool(std::size_t)>& shows) {
  PrefixSearch search;
  const auto ask = [&](std::size_t prefix) {
    ++search.replays;
    return shows(prefix);
  };
  if (count == 0 || ask(0) || !ask(count)) return search;
  std::size_t without = 0;
  std::size_t with = count;
  while (with - without > 1) {
    const std::size_t middle = without + (with - without) / 2;
    (ask(middle) ? with : without) = middle;
  }
  search.index = with - 1;
  return search;
}

PrefixExec::PrefixExec(device::Device& device, device::GraphRef graph)
    : device_{&device},
      nodes_{device.nodes(graph)},
      enabled_(nodes_.size(), true),
      exec_{device.instantiate(graph)} {}

device::GraphExecRef PrefixExec::with_prefix(std::size_t prefix) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool wanted = i < prefix;
    const device::NodeKind kind = nodes_[i].kind;
    const bool possible = kind == device::NodeKind::kKernel || kind == device::NodeKind::kCopy ||
                          kind == device::NodeKind::kFill;
    if (!possible || enabled_[i] == wanted) continue;
    device_->set_enabled(exec_.get(), nodes_[i].node, wanted);
    enabled_[i] = wanted;
  }
  return exec_.get();
}

}  // namespace graphsan::diagnose
