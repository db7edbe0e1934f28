#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_stale_contents_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
