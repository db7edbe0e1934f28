#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_padding_write_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
