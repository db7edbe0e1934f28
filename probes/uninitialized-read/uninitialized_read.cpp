#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class UninitializedReadProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_uninitialized_read_probe() {
  return std::make_unique<UninitializedReadProbe>();
}

}  // namespace graphsan::probes
