#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class MovedBufferProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_moved_buffer_probe() {
  return std::make_unique<MovedBufferProbe>();
}

}  // namespace graphsan::probes
