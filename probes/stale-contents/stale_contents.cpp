#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class StaleContentsProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_stale_contents_probe() {
  return std::make_unique<StaleContentsProbe>();
}

}  // namespace graphsan::probes
