#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "diagnose/experiments.hpp"
#include "model/facts.hpp"
#include "run/arm_log.hpp"

// Parts that the experiments' sources share.
namespace graphsan::diagnose {

/// How often a change must make every difference right.
inline constexpr int kRepeats = 2;

inline std::uint64_t count_right(std::span<const RowKey> rows, const std::set<RowKey>& wrong) {
  return static_cast<std::uint64_t>(std::count_if(
      rows.begin(), rows.end(), [&](const RowKey& row) { return !wrong.contains(row); }));
}

inline Outcome make_outcome(std::span<const RowKey> rows, const std::set<RowKey>& changed,
                            const std::set<RowKey>& sham, int repeats = kRepeats) {
  Outcome outcome;
  outcome.rows = rows.size();
  outcome.hit_with_change = count_right(rows, changed);
  outcome.hit_in_sham = count_right(rows, sham);
  outcome.repeats = repeats;
  return outcome;
}

inline std::set<RowKey> keys_of(const std::vector<model::RowDifference>& rows) {
  std::set<RowKey> keys;
  for (const model::RowDifference& row : rows) keys.insert({row.step, row.cache, row.row});
  return keys;
}

inline bool is_named(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

inline const run::InputLog* find_input(const run::StepLog& log, const std::string& name) {
  for (const run::InputLog& input : log.inputs) {
    if (input.view.name == name) return &input;
  }
  return nullptr;
}

}  // namespace graphsan::diagnose
