#include "diagnose/patched_execs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "diagnose/graph_match.hpp"
#include "trace/alignment.hpp"
#include "trace/work_recorder.hpp"

namespace graphsan::diagnose {

PatchedExecs::PatchedExecs(run::ArmRunner& runner, const run::CaseRun& run,
                           const Intervention& intervention)
    : runner_{runner}, run_{run}, intervention_{intervention}, second_{runner, run} {
  find_live_values();
}

bool PatchedExecs::names(const std::string& field) const {
  return std::find(intervention_.names.begin(), intervention_.names.end(), field) !=
         intervention_.names.end();
}

void PatchedExecs::find_live_values() {
  for (const run::StepLog& log : run_.padded_eager->steps) {
    if (!run_.facts.padded_launches_captured) {
      add_launches(log);
    } else if (run_.facts.steps[static_cast<std::size_t>(log.step)].covered) {
      add_second_capture(log.step);
    }
  }
  for (int step = 0; step < static_cast<int>(run_.facts.steps.size()); ++step) {
    if (!replays_shown_nodes(runner_, run_, step)) continue;
    const std::span<const step::Segment> segments = run_.capture.step->segments(step);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].graph) segment_of_graph_[segments[i].graph.raw] = static_cast<int>(i);
    }
  }
}

void PatchedExecs::add_launches(const run::StepLog& log) {
  const std::vector<model::Work> launches = trace::eager_work(log.work);
  const auto at = static_cast<std::size_t>(log.step);
  const std::vector<model::Work> breaks = trace::eager_work(run_.graph.steps[at].work);
  for (const model::Alignment& line : trace::align(launches, run_.facts.segments, breaks)) {
    if (line.launch < 0 || line.segment < 0) continue;
    const auto index = static_cast<std::size_t>(line.launch);
    const device::WorkRecord& record = log.work[index];
    Live live;
    live.dims = record.dims;
    live.copy = record.copy;
    live.fill = record.fill;
    if (record.kernel != nullptr) {
      packed_.push_back({0, record.arguments});
      live.arguments = std::span{&packed_.back(), 1};
      for (const device::ArgumentFieldInfo& field : record.kernel->fields) {
        live.fields.push_back({field.name, field.offset, field.size, field.is_pointer});
      }
    }
    const auto copied = log.copied.find(index);
    if (copied != log.copied.end()) live.copied = &copied->second;
    add({line.segment, line.node}, log.step, std::move(live));
  }
}

void PatchedExecs::add_second_capture(int step) {
  const LiveNodes& second = second_.at(step);
  for (const model::Alignment& line : trace::align(second.works, run_.facts.segments, {})) {
    if (line.launch < 0 || line.segment < 0) continue;
    const device::NodeInfo& node = second.nodes[static_cast<std::size_t>(line.launch)];
    Live live;
    live.dims = node.kernel.dims;
    live.arguments = node.kernel.arguments;
    live.copy = node.copy;
    live.fill = node.fill;
    add({line.segment, line.node}, step, std::move(live));
  }
}

namespace {

/// `size` bytes of a parameter buffer at `offset`; empty where no argument holds them all.
template <typename Arguments>
auto bytes_at(Arguments& arguments, std::uint32_t offset, std::uint32_t size) {
  for (auto& argument : arguments) {
    const std::size_t end = argument.offset + argument.bytes.size();
    if (offset < argument.offset || offset + size > end) continue;
    return std::span{argument.bytes}.subspan(offset - argument.offset, size);
  }
  return decltype(std::span{arguments.front().bytes}.subspan(0)){};
}

}  // namespace

void PatchedExecs::add(const NodeOf& node, int step, Live live) {
  const auto& wanted = intervention_.nodes;
  if (std::find(wanted.begin(), wanted.end(), node) == wanted.end()) return;
  // Without what the copy found there is nothing to point the node at.
  if (intervention_.change == Change::kReplaceCopySources && live.copied == nullptr) return;
  const bool words_alone =
      !intervention_.names.empty() && !names("grid") && !live.copy && !live.fill;
  if (words_alone && wanted_words(live).empty()) return;
  live_[{node.segment, node.node}].insert_or_assign(step, std::move(live));
  has_live_values_ = true;
}

device::GraphExecRef PatchedExecs::exec_for(const step::Segment& segment, int step, bool sham) {
  const auto known = segment_of_graph_.find(segment.graph.raw);
  if (known == segment_of_graph_.end()) return segment.exec;
  device::Device& device = runner_.device();
  auto exec = execs_.find(segment.graph.raw);
  if (exec == execs_.end()) {
    exec = execs_.emplace(segment.graph.raw, device.instantiate(segment.graph)).first;
    nodes_[segment.graph.raw] = device.nodes(segment.graph);
  }
  const std::vector<device::NodeInfo>& nodes = nodes_[segment.graph.raw];
  for (const auto& [place, by_step] : live_) {
    if (place.first != known->second) continue;
    const auto live = by_step.find(step);
    if (live == by_step.end()) continue;
    patch(exec->second.get(), nodes[static_cast<std::size_t>(place.second)], live->second, sham);
  }
  return exec->second.get();
}

void PatchedExecs::patch(device::GraphExecRef exec, const device::NodeInfo& node, const Live& live,
                         bool sham) {
  switch (node.kind) {
    case device::NodeKind::kKernel:
      return patch_kernel(exec, node, live, sham);
    case device::NodeKind::kCopy:
      return patch_copy(exec, node, live, sham);
    case device::NodeKind::kFill:
      if (node.fill && live.fill) {
        runner_.device().set_fill(
            exec, node.node,
            sham ? *node.fill
                 : device::FillParams{node.fill->destination, live.fill->bytes, live.fill->value});
      }
      return;
    case device::NodeKind::kHostFunction:
    case device::NodeKind::kEmpty:
    case device::NodeKind::kEvent:
    case device::NodeKind::kChildGraph:
    case device::NodeKind::kAllocation:
    case device::NodeKind::kConditional:
    case device::NodeKind::kOther:
      return;
  }
}

std::vector<device::Argument> PatchedExecs::wanted_words(const Live& live) const {
  const bool all = intervention_.names.empty();
  std::vector<device::Argument> words;
  const auto add_word = [&](std::uint32_t offset, std::uint32_t size) {
    const auto bytes = bytes_at(live.arguments, offset, size);
    if (!bytes.empty()) words.push_back({offset, {bytes.begin(), bytes.end()}});
  };
  for (const Field& field : live.fields) {
    if (names(field.name) || (all && !field.is_pointer)) add_word(field.offset, field.size);
  }
  if (!live.fields.empty()) return words;
  for (const std::string& name : intervention_.names) {
    // `+24`: a word that nobody declared, by its offset; less at the end of an argument.
    if (!name.starts_with('+')) continue;
    const auto offset = static_cast<std::uint32_t>(std::stoul(name.substr(1)));
    for (std::uint32_t size = 4; size > 0; --size) {
      if (bytes_at(live.arguments, offset, size).empty()) continue;
      add_word(offset, size);
      break;
    }
  }
  return words;
}

void PatchedExecs::patch_kernel(device::GraphExecRef exec, const device::NodeInfo& node,
                                const Live& live, bool sham) {
  device::KernelParams params = node.kernel;
  if (!sham) {
    if (intervention_.names.empty() || names("grid")) {
      params.dims.grid = live.dims.grid;
      params.dims.block = live.dims.block;
    }
    for (const device::Argument& word : wanted_words(live)) {
      const auto size = static_cast<std::uint32_t>(word.bytes.size());
      const std::span<std::byte> to = bytes_at(params.arguments, word.offset, size);
      if (!to.empty()) std::memcpy(to.data(), word.bytes.data(), word.bytes.size());
    }
  }
  runner_.device().set_kernel(exec, node.node, params);
}

namespace {

/// `bytes` bytes of what was copied live, which may be shorter: zeros follow.
std::vector<std::byte> live_bytes(std::vector<std::byte> copied, std::size_t bytes) {
  copied.resize(bytes);
  return copied;
}

}  // namespace

const void* PatchedExecs::host_copy(const void* like, std::span<const std::byte> bytes) {
  if (runner_.device().memory_kind(like) == device::Owner::kHostPinned) {
    pinned_.emplace_back(runner_.device(), bytes.size(), device::MemoryKind::kPinnedHost);
    std::memcpy(pinned_.back().data(), bytes.data(), bytes.size());
    return pinned_.back().data();
  }
  pageable_.emplace_back(bytes.begin(), bytes.end());
  return pageable_.back().data();
}

void PatchedExecs::patch_copy(device::GraphExecRef exec, const device::NodeInfo& node,
                              const Live& live, bool sham) {
  if (!node.copy || !live.copy) return;
  device::CopyParams params = *node.copy;
  if (intervention_.change == Change::kReplaceCopySources) {
    const auto* source = static_cast<const std::byte*>(params.source);
    // Only read: the program may have freed it, and the sham reads what the graph would.
    params.source = sham ? host_copy(source, {source, params.bytes})
                         : host_copy(source, live_bytes(*live.copied, params.bytes));
  } else if (!sham) {
    if (names("destination")) params.destination = live.copy->destination;
    if (names("source")) params.source = live.copy->source;
    if (names("bytes") || intervention_.names.empty()) params.bytes = live.copy->bytes;
  }
  runner_.device().set_copy(exec, node.node, params);
}

}  // namespace graphsan::diagnose
