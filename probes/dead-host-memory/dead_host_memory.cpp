#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class DeadHostMemoryProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_dead_host_memory_probe() {
  return std::make_unique<DeadHostMemoryProbe>();
}

}  // namespace graphsan::probes
