#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

void add_wrong_graph_faults(std::vector<PlantedFault>&) {}

}  // namespace graphsan::faults
