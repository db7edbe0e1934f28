#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class BranchAtCaptureProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_branch_at_capture_probe() {
  return std::make_unique<BranchAtCaptureProbe>();
}

}  // namespace graphsan::probes
