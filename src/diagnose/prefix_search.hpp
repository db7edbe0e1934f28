#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "device/device.hpp"

namespace graphsan::diagnose {

/// What a search over prefixes of ordered work found.
struct PrefixSearch {
  /// Index of the last piece of work without which the effect is not there; empty where it is there
  /// with none of them, or not there with all.
  std::optional<std::size_t> index;
  int replays = 0;  ///< how often `shows` was asked: at most log2(count) + 3
};

/// Bisects for the piece of work that brings an effect about. `shows(n)`: the effect is there when
/// only the first `n` of `count` pieces run; it must be monotone in n, as the final bytes of a row
/// are once its last writer has run.
[[nodiscard]] PrefixSearch search_prefixes(std::size_t count,
                                           const std::function<bool(std::size_t)>& shows);

/// An exec of our own, made from a captured graph, of which only the first nodes in creation order
/// run. Kernel, copy and fill nodes can be disabled; others always run.
class PrefixExec {
 public:
  /// `graph` is borrowed. Throws DeviceError where the graph cannot be instantiated again.
  PrefixExec(device::Device& device, device::GraphRef graph);
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  /// The exec with its first `prefix` nodes enabled; touches only those whose state changes.
  [[nodiscard]] device::GraphExecRef with_prefix(std::size_t prefix);

 private:
  device::Device* device_;
  std::vector<device::NodeInfo> nodes_;
  std::vector<bool> enabled_;
  device::GraphExec exec_;
};

}  // namespace graphsan::diagnose
