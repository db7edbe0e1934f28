#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_unstable_eager_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
