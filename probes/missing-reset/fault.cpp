#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_missing_reset_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
