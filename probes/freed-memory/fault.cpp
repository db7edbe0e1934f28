#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_freed_memory_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
