#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class MissingResetProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_missing_reset_probe() {
  return std::make_unique<MissingResetProbe>();
}

}  // namespace graphsan::probes
