#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class NumericNoiseProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_numeric_noise_probe() {
  return std::make_unique<NumericNoiseProbe>();
}

}  // namespace graphsan::probes
