#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_dead_host_memory_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
