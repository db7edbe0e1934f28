#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

class PaddingMetadataProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<diagnose::Suspicion> recognise(const model::Facts&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_padding_metadata_probe() {
  return std::make_unique<PaddingMetadataProbe>();
}

}  // namespace graphsan::probes
