#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_wrong_everywhere_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
