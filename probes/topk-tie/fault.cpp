#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_topk_tie_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
