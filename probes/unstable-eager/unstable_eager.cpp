#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class UnstableEagerProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_unstable_eager_probe() {
  return std::make_unique<UnstableEagerProbe>();
}

}  // namespace graphsan::probes
