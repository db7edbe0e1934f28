#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class PaddingLeakProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_padding_leak_probe() {
  return std::make_unique<PaddingLeakProbe>();
}

}  // namespace graphsan::probes
