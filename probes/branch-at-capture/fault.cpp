#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_branch_at_capture_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
