#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class EscapedLaunchProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_escaped_launch_probe() {
  return std::make_unique<EscapedLaunchProbe>();
}

}  // namespace graphsan::probes
