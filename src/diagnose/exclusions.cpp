#include "diagnose/exclusions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

namespace graphsan::diagnose {

namespace {

using model::Facts;
using model::RowClass;
using Why = std::optional<std::string>;

std::size_t count_rows(const Facts& facts, RowClass row_class) {
  return static_cast<std::size_t>(
      std::count_if(facts.rows.begin(), facts.rows.end(), [&](const model::RowDifference& row) {
        return row.row_class == row_class && !model::is_consequence(facts, row);
      }));
}

/// Rows that both arms wrote, and how many of them hold the same bytes.
struct WrittenInBoth {
  std::size_t rows = 0;
  std::size_t equal = 0;
};

WrittenInBoth written_in_both(const Facts& facts) {
  WrittenInBoth both;
  for (const model::WriteSets& sets : facts.writes) {
    for (const std::int64_t row : sets.graph) {
      both.rows += std::binary_search(sets.eager.begin(), sets.eager.end(), row) ? 1 : 0;
    }
  }
  const auto differing =
      std::count_if(facts.rows.begin(), facts.rows.end(), [](const model::RowDifference& row) {
        return row.row_class == RowClass::kWrongValue ||
               (row.row_class == RowClass::kEagerStray && row.eager != row.graph);
      });
  both.equal = both.rows - std::min(both.rows, static_cast<std::size_t>(differing));
  return both;
}

Why precision(const Facts& facts) {
  const std::size_t missing = count_rows(facts, RowClass::kMissing);
  const std::size_t stray = count_rows(facts, RowClass::kStray);
  if (missing + stray == 0 || count_rows(facts, RowClass::kWrongValue) != 0) return std::nullopt;
  if (facts.rows_dropped != 0) return std::nullopt;
  std::string why;
  if (missing != 0) {
    const auto untouched =
        std::count_if(facts.rows.begin(), facts.rows.end(), [](const model::RowDifference& row) {
          return row.row_class == RowClass::kMissing &&
                 row.origin.kind == model::OriginKind::kUntouched;
        });
    why = fmt::format(
        "{} of {} missing rows still hold the bytes from before the step: nothing was converted "
        "there at all",
        untouched, missing);
  }
  if (stray != 0) {
    why += fmt::format("{}{} rows changed that no lane may write: no rounding moves a write",
                       why.empty() ? "" : "; ", stray);
  }
  const WrittenInBoth both = written_in_both(facts);
  why += fmt::format("; of {} rows that both arms wrote {} are equal byte for byte", both.rows,
                     both.equal);
  if (both.equal != both.rows) {
    why += ", the others lie in layers after an output that already differs";
  }
  return why;
}

Why fresh_tensor(const Facts& facts) {
  std::size_t named = 0;
  std::size_t pool = 0;
  for (const model::GraphSegment& segment : facts.segments) {
    for (const model::Work& node : segment.nodes) {
      for (const model::AddressUse& use : node.addresses) {
        if (use.address == 0) continue;
        switch (use.owner) {
          case model::OwnerKind::kNamedBuffer:
            ++named;
            break;
          case model::OwnerKind::kGraphPool:
            ++pool;
            break;
          case model::OwnerKind::kFreeBlock:
          case model::OwnerKind::kOtherAllocation:
          case model::OwnerKind::kHostPageable:
          case model::OwnerKind::kHostPinned:
          case model::OwnerKind::kUnknown:
            return std::nullopt;
        }
      }
    }
  }
  if (named + pool == 0) return std::nullopt;
  return fmt::format(
      "all {} addresses found in the nodes of the first diverging step's graph belong to live "
      "memory: {} to named buffers, {} to a graph pool; none to a freed block",
      named + pool, named, pool);
}

Why stale_pointer(const Facts& facts) {
  if (facts.inputs.empty()) return std::nullopt;
  for (const model::InputFacts& input : facts.inputs) {
    if (input.captured_address != input.replay_address) return std::nullopt;
  }
  return fmt::format("all {} inputs have the address at replay that they had at capture",
                     facts.inputs.size());
}

Why stale_contents(const Facts& facts) {
  if (facts.inputs.empty()) return std::nullopt;
  for (const model::InputFacts& input : facts.inputs) {
    if (!input.contents_equal_eager) return std::nullopt;
  }
  return fmt::format(
      "the real lanes of all {} inputs hold eager's bytes when the graph is replayed",
      facts.inputs.size());
}

Why ties(const Facts& facts) {
  float margin = 0;
  std::size_t mismatches = 0;
  for (const model::TopKDifference& difference : facts.top_k) {
    if (difference.kind == model::TopKKind::kTie) return std::nullopt;
    margin = mismatches == 0 ? difference.margin : std::min(margin, difference.margin);
    ++mismatches;
  }
  if (mismatches == 0) return std::nullopt;
  return fmt::format(
      "in each of {} differing selections eager's scores are apart, by {:.3g} at "
      "least; equal scores in the graph alone are a symptom",
      mismatches, margin);
}

}  // namespace

std::vector<model::RuledOut> rule_out_suspects(const Facts& facts) {
  std::vector<model::RuledOut> cleared;
  const auto add = [&](const char* mechanism, const Why& why) {
    if (why) cleared.push_back({mechanism, *why});
  };
  add("numeric-noise", precision(facts));
  add("freed-memory", fresh_tensor(facts));
  add("moved-buffer", stale_pointer(facts));
  add("stale-contents", stale_contents(facts));
  add("topk-tie", ties(facts));
  return cleared;
}

}  // namespace graphsan::diagnose
