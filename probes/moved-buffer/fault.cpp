#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_moved_buffer_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
