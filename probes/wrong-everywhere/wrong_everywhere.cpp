#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class WrongEverywhereProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_wrong_everywhere_probe() {
  return std::make_unique<WrongEverywhereProbe>();
}

}  // namespace graphsan::probes
