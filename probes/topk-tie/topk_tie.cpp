#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class TopkTieProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_topk_tie_probe() { return std::make_unique<TopkTieProbe>(); }

}  // namespace graphsan::probes
