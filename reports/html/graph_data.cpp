#include "reports/html/graph_data.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphsan::reports::html {
namespace {

using model::Work;

constexpr std::size_t kMaxArgumentBytes = 2048;

Json extent_json(const model::Extent3& extent) {
  return Json::array({extent.x, extent.y, extent.z});
}

/// Field lists are shared: every launch of a kernel has the same one.
class FieldSets {
 public:
  [[nodiscard]] std::size_t intern(const std::vector<model::ArgumentField>& fields) {
    Json list = Json::array();
    for (const model::ArgumentField& field : fields) {
      list.push_back({field.name, field.offset, field.size, field.is_pointer});
    }
    const auto [at, added] =
        index_.try_emplace(list.dump(-1, ' ', true, Json::error_handler_t::replace), sets_.size());
    if (added) sets_.push_back(std::move(list));
    return at->second;
  }
  [[nodiscard]] Json take() { return std::move(sets_); }

 private:
  std::map<std::string, std::size_t> index_;
  Json sets_ = Json::array();
};

Json arguments_json(const Work& work) {
  Json list = Json::array();
  for (const model::KernelArgument& argument : work.arguments) {
    const std::size_t kept = std::min(argument.bytes.size(), kMaxArgumentBytes);
    list.push_back({argument.offset, base64({argument.bytes.data(), kept}), argument.bytes.size()});
  }
  return list;
}

Json addresses_json(const Work& work) {
  Json list = Json::array();
  for (const model::AddressUse& use : work.addresses) {
    list.push_back({{"field", use.field},
                    {"offset", use.offset},
                    {"address", hex_address(use.address)},
                    {"owner", model::to_string(use.owner)},
                    {"owner_name", use.owner_name}});
  }
  return list;
}

Json operands_json(const Work& work, FieldSets& field_sets) {
  Json json{{"grid", extent_json(work.grid)},
            {"block", extent_json(work.block)},
            {"shared_bytes", work.shared_bytes},
            {"arguments", arguments_json(work)},
            {"addresses", addresses_json(work)}};
  if (!work.fields.empty()) json["fields"] = field_sets.intern(work.fields);
  if (work.copy) {
    json["copy"] = {{"destination", hex_address(work.copy->destination)},
                    {"source", hex_address(work.copy->source)},
                    {"bytes", work.copy->bytes}};
  }
  if (work.fill) {
    json["fill"] = {{"destination", hex_address(work.fill->destination)},
                    {"bytes", work.fill->bytes},
                    {"value", work.fill->value}};
  }
  return json;
}

const Work* launch_of(const model::Facts& facts, const model::Alignment& line) {
  const bool known =
      line.launch >= 0 && static_cast<std::size_t>(line.launch) < facts.eager_launches.size();
  return known ? &facts.eager_launches[static_cast<std::size_t>(line.launch)] : nullptr;
}

const Work* node_of(const model::Facts& facts, const model::Alignment& line) {
  for (const model::GraphSegment& segment : facts.segments) {
    if (segment.segment != line.segment) continue;
    for (const Work& node : segment.nodes) {
      if (node.id == line.node) return &node;
    }
  }
  return nullptr;
}

/// One line of the table: an alignment, or (no `alignment`) a node that nothing was aligned with.
struct Line {
  std::string_view kind;
  int segment = -1;
  const Work* launch = nullptr;
  const Work* node = nullptr;
  const model::Alignment* alignment = nullptr;
};

std::vector<Line> lines_of(const model::Facts& facts) {
  std::vector<Line> lines;
  for (const model::Alignment& line : facts.alignment) {
    lines.push_back({model::to_string(line.kind), line.segment, launch_of(facts, line),
                     node_of(facts, line), &line});
  }
  if (!lines.empty()) return lines;
  for (const model::GraphSegment& segment : facts.segments) {
    for (const Work& node : segment.nodes) {
      lines.push_back({"node", segment.segment, nullptr, &node, nullptr});
    }
  }
  return lines;
}

/// Positions of the lines, those that do not match first.
std::vector<std::size_t> by_weight(const std::vector<Line>& lines) {
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [&lines](std::size_t i) {
    return lines[i].alignment != nullptr &&
           lines[i].alignment->kind != model::AlignmentKind::kMatched;
  });
  return order;
}

class GraphData {
 public:
  GraphData(const model::Facts& facts, Budget budget)
      : facts_{facts}, names_{budget.share(35)}, operands_{budget.share(65)} {}

  [[nodiscard]] Json build() {
    Json segments = Json::array();
    for (const model::GraphSegment& segment : facts_.segments) {
      Json json = segment_json(segment);
      if (!names_.take(json)) break;
      segments.push_back(std::move(json));
    }
    Json lines = lines_json();
    return Json{{"lines", std::move(lines)},
                {"segments", std::move(segments)},
                {"field_sets", field_sets_.take()}};
  }

 private:
  Json segment_json(const model::GraphSegment& segment) {
    return Json{{"bucket", segment.bucket},
                {"segment", segment.segment},
                {"nodes", segment.nodes.size()},
                {"edges", segment.edges.size()},
                {"break_after", segment.break_after}};
  }

  Json lines_json() {
    const std::vector<Line> lines = lines_of(facts_);
    std::map<std::size_t, Json> kept;
    for (const std::size_t at : by_weight(lines)) {
      Json json = line_json(lines[at]);
      if (!names_.take(json)) break;
      add_operands(json, "launch", lines[at].launch);
      add_operands(json, "node", lines[at].node);
      kept.emplace(at, std::move(json));
    }
    Json items = Json::array();
    for (auto& [at, json] : kept) items.push_back(std::move(json));
    const std::size_t left_out = lines.size() - items.size();
    return Json{{"items", std::move(items)}, {"left_out", left_out}};
  }

  static Json line_json(const Line& line) {
    Json json{{"kind", line.kind}, {"segment", line.segment}};
    if (line.launch != nullptr) json["launch"] = work_json(*line.launch);
    if (line.node != nullptr) json["node"] = work_json(*line.node);
    if (line.alignment == nullptr) return json;
    json["name"] = line.alignment->name;
    json["source"] = line.alignment->source;
    json["differs"] = line.alignment->differing_fields;
    return json;
  }

  static Json work_json(const Work& work) {
    return Json{{"id", work.id},
                {"type", model::to_string(work.type)},
                {"name", work.name},
                {"source", work.source}};
  }

  void add_operands(Json& line, const char* side, const Work* work) {
    if (work == nullptr) return;
    Json operands = operands_json(*work, field_sets_);
    if (operands_.take(operands)) line[side]["operands"] = std::move(operands);
  }

  const model::Facts& facts_;
  FieldSets field_sets_;
  Budget names_;
  Budget operands_;
};

}  // namespace

Json graph_data(const model::Facts& facts, Budget budget) {
  return GraphData{facts, budget}.build();
}

}  // namespace graphsan::reports::html
