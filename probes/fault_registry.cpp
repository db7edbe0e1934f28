#include "probes/fault_registry.hpp"

#include <algorithm>

#include "probes/elided-write/fault.hpp"

namespace graphsan::faults {

// The one file that knows every planted fault.
const std::vector<PlantedFault>& planted_faults() {
  static const std::vector<PlantedFault> faults{
      {"elided-write", "index-key",
       "index-K is written only where there is metadata; K and V always", &elided_index_key},
  };
  return faults;
}

const PlantedFault* find_fault(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view id = name.substr(0, colon);
  const std::string_view variant =
      colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1);
  const std::vector<PlantedFault>& faults = planted_faults();
  const auto found = std::find_if(faults.begin(), faults.end(), [&](const PlantedFault& fault) {
    return fault.id == id && (colon == std::string_view::npos || fault.variant == variant);
  });
  return found == faults.end() ? nullptr : &*found;
}

}  // namespace graphsan::faults
