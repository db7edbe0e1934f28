#include "check/minimize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace graphsan::check {

namespace {

using step::minimax_m3::bucket_for;
using step::minimax_m3::Config;

std::set<std::string> mechanisms_of(const model::CaseReport& report) {
  std::set<std::string> ids;
  for (const model::Finding& finding : report.findings) ids.insert(finding.mechanism);
  return ids;
}

/// One size of a case: how to read and set it, and smaller values to try, smallest first.
struct Dimension {
  const char* name;
  std::int64_t (*get)(const Config& config);
  void (*set)(Config& config, std::int64_t value);
  std::vector<std::int64_t> smaller;
};

void set_tokens(Config& config, std::int64_t tokens) {
  const bool padded = config.bucket > config.tokens;
  config.tokens = static_cast<int>(tokens);
  config.bucket = bucket_for(config.tokens + (padded ? 1 : 0));
  if (!padded) config.tokens = config.bucket;
}

std::vector<Dimension> dimensions() {
  return {
      {"layers",
       [](const Config& c) { return std::int64_t{c.layers}; },
       [](Config& c, std::int64_t value) { c.layers = static_cast<int>(value); },
       {1, 2, 3, 4, 6}},
      {"steps",
       [](const Config& c) { return std::int64_t{c.steps}; },
       [](Config& c, std::int64_t value) { c.steps = static_cast<int>(value); },
       {1, 2, 3, 4, 6, 8}},
      {"tokens",
       [](const Config& c) { return std::int64_t{c.tokens}; },
       &set_tokens,
       {1, 2, 3, 4, 6, 8, 16, 32, 64, 128}},
      {"context",
       [](const Config& c) { return c.context; },
       [](Config& c, std::int64_t value) { c.context = value; },
       {128, 512, 1024, 2304, 2560, 3072, 4096, 8192, 16384, 65536}},
  };
}

}  // namespace

Minimized minimize(const CaseRequest& request, const model::CaseReport& report,
                   const std::function<model::CaseReport(const CaseRequest&)>& check) {
  Minimized best{request, report, 0, {}};
  const auto keeps = [&](const model::CaseReport& smaller) {
    return !smaller.failure && smaller.verdict == report.verdict &&
           mechanisms_of(smaller) == mechanisms_of(report);
  };
  for (const Dimension& dimension : dimensions()) {
    const std::int64_t now = dimension.get(best.request.config);
    for (const std::int64_t value : dimension.smaller) {
      if (value >= now) break;
      CaseRequest smaller = best.request;
      dimension.set(smaller.config, value);
      if (dimension.get(smaller.config) >= now) break;
      ++best.tried;
      model::CaseReport tried;
      try {
        tried = check(smaller);
      } catch (const step::minimax_m3::ConfigError&) {
        continue;
      }
      if (!keeps(tried)) continue;
      best.shrunk.push_back(
          fmt::format("{} {} to {}", dimension.name, now, dimension.get(smaller.config)));
      best.request = std::move(smaller);
      best.report = std::move(tried);
      break;
    }
  }
  return best;
}

}  // namespace graphsan::check
