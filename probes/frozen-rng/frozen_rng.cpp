#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class FrozenRngProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_frozen_rng_probe() {
  return std::make_unique<FrozenRngProbe>();
}

}  // namespace graphsan::probes
