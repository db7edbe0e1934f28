#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_capture_side_effect_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
