#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/probe.hpp"

namespace graphsan::test {

inline diagnose::Intervention intervention(diagnose::Change change) {
  return {.change = change, .names = {}, .nodes = {}};
}

/// A suspicion of rows of cache 0 at `step`, confirmed by `changes`.
inline diagnose::Suspicion suspicion(const std::string& mechanism, int step,
                                     const std::vector<std::int64_t>& rows = {8},
                                     const std::vector<diagnose::Change>& changes = {
                                         diagnose::Change::kLiveCapture}) {
  diagnose::Suspicion made;
  made.finding.mechanism = mechanism;
  made.finding.first_step = step;
  for (const std::int64_t row : rows) made.rows.push_back({step, 0, row});
  for (const diagnose::Change change : changes) made.confirm.push_back(intervention(change));
  return made;
}

/// Suspects what a test tells it to, whatever the facts.
class FakeProbe final : public diagnose::Probe {
 public:
  FakeProbe(std::string id, std::vector<diagnose::Suspicion> suspicions)
      : id_{std::move(id)}, suspicions_{std::move(suspicions)} {}
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return suspicions_;
  }
  [[nodiscard]] std::optional<std::string> rule_out(const model::Facts&) const override {
    return id_ + " was looked for";
  }

 private:
  std::string id_;
  std::vector<diagnose::Suspicion> suspicions_;
};

/// Probes by id, each with what it suspects.
inline diagnose::ProbeRegistry registry_of(
    std::initializer_list<std::pair<const char*, std::vector<diagnose::Suspicion>>> list) {
  diagnose::ProbeRegistry registry;
  for (const auto& [id, suspicions] : list) {
    registry.add({id, id, ""}, std::make_unique<FakeProbe>(id, suspicions));
  }
  return registry;
}

}  // namespace graphsan::test
