#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class CaptureSideEffectProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_capture_side_effect_probe() {
  return std::make_unique<CaptureSideEffectProbe>();
}

}  // namespace graphsan::probes
