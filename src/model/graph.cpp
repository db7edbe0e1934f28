#include "model/graph.hpp"

#include "model/enum_words.hpp"

namespace graphsan::model {

std::string_view to_string(NodeType type) {
  switch (type) {
    case NodeType::kKernel:
      return "kernel";
    case NodeType::kMemcpy:
      return "memcpy";
    case NodeType::kMemset:
      return "memset";
    case NodeType::kHost:
      return "host";
    case NodeType::kEmpty:
      return "empty";
    case NodeType::kEvent:
      return "event";
    case NodeType::kChildGraph:
      return "child-graph";
    case NodeType::kAllocation:
      return "allocation";
    case NodeType::kConditional:
      return "conditional";
    case NodeType::kOther:
      return "other";
  }
  throw_no_enumerator();
}

std::optional<NodeType> parse_node_type(std::string_view word) {
  return parse_word(word, NodeType::kOther);
}

std::string_view to_string(OwnerKind kind) {
  switch (kind) {
    case OwnerKind::kNamedBuffer:
      return "named-buffer";
    case OwnerKind::kGraphPool:
      return "graph-pool";
    case OwnerKind::kFreeBlock:
      return "free-block";
    case OwnerKind::kOtherAllocation:
      return "other-allocation";
    case OwnerKind::kHostPageable:
      return "host-pageable";
    case OwnerKind::kHostPinned:
      return "host-pinned";
    case OwnerKind::kUnknown:
      return "unknown";
  }
  throw_no_enumerator();
}

std::optional<OwnerKind> parse_owner_kind(std::string_view word) {
  return parse_word(word, OwnerKind::kUnknown);
}

std::string_view to_string(AlignmentKind kind) {
  switch (kind) {
    case AlignmentKind::kMatched:
      return "matched";
    case AlignmentKind::kMissing:
      return "missing";
    case AlignmentKind::kExtra:
      return "extra";
    case AlignmentKind::kOtherGrid:
      return "other-grid";
    case AlignmentKind::kOtherArguments:
      return "other-arguments";
  }
  throw_no_enumerator();
}

std::optional<AlignmentKind> parse_alignment_kind(std::string_view word) {
  return parse_word(word, AlignmentKind::kOtherArguments);
}

std::string with_source(std::string_view name, std::string_view source) {
  std::string text{name};
  if (!source.empty()) text.append(" (").append(source).append(")");
  return text;
}

std::optional<std::string> if_known(std::string_view source) {
  return source.empty() ? std::nullopt : std::optional<std::string>{source};
}

}  // namespace graphsan::model
