#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class RacyStagingProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_racy_staging_probe() {
  return std::make_unique<RacyStagingProbe>();
}

}  // namespace graphsan::probes
