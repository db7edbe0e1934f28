#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class MissingDependencyProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_missing_dependency_probe() {
  return std::make_unique<MissingDependencyProbe>();
}

}  // namespace graphsan::probes
