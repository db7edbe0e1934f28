#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cache_layout.hpp"

namespace graphsan::model {

enum class FindingStatus : std::uint8_t { kConfirmed, kSuspected };
[[nodiscard]] std::string_view to_string(FindingStatus status);
[[nodiscard]] std::optional<FindingStatus> parse_finding_status(std::string_view word);

struct PageSlot {
  std::int64_t page = 0;
  std::int64_t slot = 0;
  friend bool operator==(const PageSlot&, const PageSlot&) = default;
};

/// One cache of one layer that a finding speaks of.
struct Where {
  CacheKind cache = CacheKind::kOther;
  int layer = 0;
  std::vector<PageSlot> rows;
  std::optional<int> node;
  std::optional<std::string> kernel;
  std::optional<std::string> source;
};

/// A mechanism, where it shows, why we say so, and what undoes it.
struct Finding {
  std::string mechanism;
  FindingStatus status = FindingStatus::kSuspected;
  std::string summary;  ///< one sentence a colleague understands
  int first_step = 0;   ///< findings are ordered by what broke first
  std::vector<Where> where;
  std::vector<std::string> evidence;
  std::string experiment;    ///< the intervention that confirmed it; empty if suspected
  std::string sham;          ///< the same procedure without the change, and what it did
  std::string not_runnable;  ///< suspected: which experiment could not be run, and why
  std::string fix;
};

struct RuledOut {
  std::string mechanism;
  std::string why;
};

/// An experiment that was run: what was changed and what happened.
struct ExperimentRecord {
  std::string name;
  std::string change;
  std::string outcome;
  std::string sham_outcome;
  int repeats = 0;
  bool made_right = false;
  std::string not_runnable;  ///< reason, or empty when it ran
};

}  // namespace graphsan::model
