#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_uninitialized_read_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
