#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class ReplacedWorkspaceProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_replaced_workspace_probe() {
  return std::make_unique<ReplacedWorkspaceProbe>();
}

}  // namespace graphsan::probes
