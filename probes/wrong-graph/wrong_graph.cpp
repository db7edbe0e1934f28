#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class WrongGraphProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_wrong_graph_probe() {
  return std::make_unique<WrongGraphProbe>();
}

}  // namespace graphsan::probes
