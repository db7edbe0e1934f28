#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_wrong_scale_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
