#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_frozen_scalar_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
