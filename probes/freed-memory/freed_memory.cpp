#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class FreedMemoryProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_freed_memory_probe() {
  return std::make_unique<FreedMemoryProbe>();
}

}  // namespace graphsan::probes
