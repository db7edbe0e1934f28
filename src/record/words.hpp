#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "model/event.hpp"
#include "model/run_report.hpp"

namespace graphsan::record {

template <typename>
inline constexpr bool kNoWords = false;

/// The enumerator that a word of the model names; empty for an unknown word.
template <typename Enum>
[[nodiscard]] std::optional<Enum> parse_enum(std::string_view word) {
  namespace m = graphsan::model;
  if constexpr (std::is_same_v<Enum, m::DType>)
    return m::parse_dtype(word);
  else if constexpr (std::is_same_v<Enum, m::CacheKind>)
    return m::parse_cache_kind(word);
  else if constexpr (std::is_same_v<Enum, m::RowClass>)
    return m::parse_row_class(word);
  else if constexpr (std::is_same_v<Enum, m::OriginKind>)
    return m::parse_origin_kind(word);
  else if constexpr (std::is_same_v<Enum, m::ValueKind>)
    return m::parse_value_kind(word);
  else if constexpr (std::is_same_v<Enum, m::Place>)
    return m::parse_place(word);
  else if constexpr (std::is_same_v<Enum, m::TopKKind>)
    return m::parse_topk_kind(word);
  else if constexpr (std::is_same_v<Enum, m::ChainStage>)
    return m::parse_chain_stage(word);
  else if constexpr (std::is_same_v<Enum, m::NodeType>)
    return m::parse_node_type(word);
  else if constexpr (std::is_same_v<Enum, m::OwnerKind>)
    return m::parse_owner_kind(word);
  else if constexpr (std::is_same_v<Enum, m::AlignmentKind>)
    return m::parse_alignment_kind(word);
  else if constexpr (std::is_same_v<Enum, m::FindingStatus>)
    return m::parse_finding_status(word);
  else if constexpr (std::is_same_v<Enum, m::Verdict>)
    return m::parse_verdict(word);
  else
    static_assert(kNoWords<Enum>, "this enum has no words here yet: add a line");
}

}  // namespace graphsan::record
