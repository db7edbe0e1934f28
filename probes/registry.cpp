#include "probes/registry.hpp"

#include "probes/elided-write/elided_write.hpp"
#include "probes/mechanism_texts.hpp"
#include "probes/padding-write/padding_write.hpp"

namespace graphsan::probes {

// The one file that knows every probe.
diagnose::ProbeRegistry builtin_probes() {
  diagnose::ProbeRegistry registry;
  registry.add(mechanism_text("elided-write"), std::make_unique<ElidedWriteProbe>());
  registry.add(mechanism_text("padding-write"), std::make_unique<PaddingWriteProbe>());
  return registry;
}

}  // namespace graphsan::probes
