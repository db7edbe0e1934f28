#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_racy_staging_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
