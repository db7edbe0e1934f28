#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_frozen_rng_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
