#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_numeric_noise_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
