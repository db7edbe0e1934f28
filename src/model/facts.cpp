#include "model/facts.hpp"

#include <algorithm>

#include "model/enum_words.hpp"

namespace graphsan::model {

std::string_view to_string(RowClass row_class) {
  switch (row_class) {
    case RowClass::kMissing:
      return "missing";
    case RowClass::kStray:
      return "stray";
    case RowClass::kWrongValue:
      return "wrong-value";
    case RowClass::kEagerStray:
      return "eager-stray";
    case RowClass::kEagerMissing:
      return "eager-missing";
  }
  throw_no_enumerator();
}

std::optional<RowClass> parse_row_class(std::string_view word) {
  return parse_word(word, RowClass::kEagerMissing);
}

std::string_view to_string(OriginKind kind) {
  switch (kind) {
    case OriginKind::kUnknown:
      return "unknown";
    case OriginKind::kUntouched:
      return "untouched";
    case OriginKind::kThisRow:
      return "this-row";
    case OriginKind::kOtherRow:
      return "other-row";
    case OriginKind::kEarlierStep:
      return "earlier-step";
    case OriginKind::kPadLane:
      return "pad-lane";
  }
  throw_no_enumerator();
}

std::optional<OriginKind> parse_origin_kind(std::string_view word) {
  return parse_word(word, OriginKind::kPadLane);
}

std::string_view to_string(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kConstantRatio:
      return "constant-ratio";
    case ValueKind::kRounding:
      return "rounding";
    case ValueKind::kNonFinite:
      return "non-finite";
    case ValueKind::kArbitrary:
      return "arbitrary";
    case ValueKind::kOtherDtype:
      return "other-dtype";
  }
  throw_no_enumerator();
}

std::optional<ValueKind> parse_value_kind(std::string_view word) {
  return parse_word(word, ValueKind::kOtherDtype);
}

std::string_view to_string(Place place) {
  switch (place) {
    case Place::kOrdinary:
      return "ordinary";
    case Place::kLastRow:
      return "last-row";
    case Place::kNullPage:
      return "null-page";
    case Place::kLiveRow:
      return "live-row";
    case Place::kEarlierBatch:
      return "earlier-batch";
    case Place::kGuardZone:
      return "guard-zone";
  }
  throw_no_enumerator();
}

std::optional<Place> parse_place(std::string_view word) {
  return parse_word(word, Place::kGuardZone);
}

std::string_view to_string(TopKKind kind) {
  switch (kind) {
    case TopKKind::kOutOfRange:
      return "out-of-range";
    case TopKKind::kDuplicate:
      return "duplicate";
    case TopKKind::kTrivial:
      return "trivial";
    case TopKKind::kOtherLane:
      return "other-lane";
    case TopKKind::kEarlier:
      return "earlier";
    case TopKKind::kTie:
      return "tie";
    case TopKKind::kMismatch:
      return "mismatch";
  }
  throw_no_enumerator();
}

std::optional<TopKKind> parse_topk_kind(std::string_view word) {
  return parse_word(word, TopKKind::kMismatch);
}

std::string_view to_string(ChainStage stage) {
  switch (stage) {
    case ChainStage::kIndexKeyWrite:
      return "index-key-write";
    case ChainStage::kKeyValueWrite:
      return "key-value-write";
    case ChainStage::kScore:
      return "score";
    case ChainStage::kTopK:
      return "top-k";
    case ChainStage::kBlocksRead:
      return "blocks-read";
    case ChainStage::kOutput:
      return "output";
    case ChainStage::kNextLayer:
      return "next-layer";
  }
  throw_no_enumerator();
}

std::optional<ChainStage> parse_chain_stage(std::string_view word) {
  return parse_word(word, ChainStage::kNextLayer);
}

namespace {

bool is_output_before(const Facts& facts, int step, int layer) {
  return std::any_of(facts.outputs.begin(), facts.outputs.end(),
                     [&](const OutputDifference& output) {
                       return !output.carried && output.step == step && output.layer < layer;
                     });
}

/// Some row of a cache of `layer` differs in `step`.
bool is_row_of(const Facts& facts, int step, int layer) {
  return std::any_of(facts.rows.begin(), facts.rows.end(), [&](const RowDifference& row) {
    return row.step == step && facts.caches[static_cast<std::size_t>(row.cache)].layer == layer;
  });
}

}  // namespace

bool is_consequence(const Facts& facts, const RowDifference& row) {
  if (row.row_class != RowClass::kWrongValue) return false;
  const int layer = facts.caches[static_cast<std::size_t>(row.cache)].layer;
  return is_output_before(facts, row.step, layer);
}

bool is_consequence(const Facts& facts, const TopKDifference& difference) {
  if (difference.carried) return true;
  if (difference.reproduced_from_graph_cache == false) return false;
  return is_output_before(facts, difference.step, difference.layer) ||
         is_row_of(facts, difference.step, difference.layer);
}

bool is_consequence(const Facts& facts, const OutputDifference& difference) {
  if (difference.carried) return true;
  if (difference.reproduced_from_graph_cache == false) return false;
  const bool selected =
      std::any_of(facts.top_k.begin(), facts.top_k.end(), [&](const TopKDifference& top_k) {
        return !top_k.carried && top_k.step == difference.step && top_k.layer == difference.layer;
      });
  return selected || is_output_before(facts, difference.step, difference.layer) ||
         is_row_of(facts, difference.step, difference.layer);
}

}  // namespace graphsan::model
