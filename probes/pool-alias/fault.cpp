#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_pool_alias_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
