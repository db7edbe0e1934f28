#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class PoolAliasProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_pool_alias_probe() {
  return std::make_unique<PoolAliasProbe>();
}

}  // namespace graphsan::probes
