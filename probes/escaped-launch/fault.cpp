#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_escaped_launch_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
