#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

bool names_pool(const Facts& facts) {
  const std::vector<NodeUse> uses = node_uses(facts);
  return std::any_of(uses.begin(), uses.end(), [](const NodeUse& use) {
    return use.use->owner == model::OwnerKind::kGraphPool;
  });
}

/// A result depends on what fresh memory of the graph's pool happens to hold.
class UninitializedReadProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    std::vector<RowKey> keys = primary_differences(facts);
    if (keys.empty() || !names_pool(facts)) return {};
    Suspicion suspicion = suspect(facts, "uninitialized-read", std::move(keys));
    suspicion.finding.summary =
        "the result depends on what the graph's scratch memory held before: something reads it "
        "before anything writes it";
    suspicion.finding.fix =
        "Fill the buffer inside the graph before it is read, or read only the part that was "
        "written; `empty` is not `zeros`, although eager may see zeros.";
    confirm_by(suspicion, diagnose::Change::kPoisonGraphPool);
    return {std::move(suspicion)};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_uninitialized_read_probe() {
  return std::make_unique<UninitializedReadProbe>();
}

}  // namespace graphsan::probes
