#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_replaced_workspace_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
