#pragma once

#include <vector>

#include "probes/fault_registry.hpp"

namespace graphsan::faults {

// Each adds its variants, the plainest first; defined in the mechanism's folder.
void add_elided_write_faults(std::vector<PlantedFault>& faults);
void add_branch_at_capture_faults(std::vector<PlantedFault>& faults);
void add_escaped_launch_faults(std::vector<PlantedFault>& faults);
void add_frozen_scalar_faults(std::vector<PlantedFault>& faults);
void add_frozen_rng_faults(std::vector<PlantedFault>& faults);
void add_moved_buffer_faults(std::vector<PlantedFault>& faults);
void add_stale_contents_faults(std::vector<PlantedFault>& faults);
void add_freed_memory_faults(std::vector<PlantedFault>& faults);
void add_replaced_workspace_faults(std::vector<PlantedFault>& faults);
void add_pool_alias_faults(std::vector<PlantedFault>& faults);
void add_dead_host_memory_faults(std::vector<PlantedFault>& faults);
void add_padding_write_faults(std::vector<PlantedFault>& faults);
void add_padding_leak_faults(std::vector<PlantedFault>& faults);
void add_padding_metadata_faults(std::vector<PlantedFault>& faults);
void add_capture_side_effect_faults(std::vector<PlantedFault>& faults);
void add_wrong_graph_faults(std::vector<PlantedFault>& faults);
void add_missing_dependency_faults(std::vector<PlantedFault>& faults);
void add_missing_reset_faults(std::vector<PlantedFault>& faults);
void add_racy_staging_faults(std::vector<PlantedFault>& faults);
void add_uninitialized_read_faults(std::vector<PlantedFault>& faults);
void add_wrong_scale_faults(std::vector<PlantedFault>& faults);
void add_numeric_noise_faults(std::vector<PlantedFault>& faults);
void add_unstable_eager_faults(std::vector<PlantedFault>& faults);
void add_topk_tie_faults(std::vector<PlantedFault>& faults);
void add_wrong_everywhere_faults(std::vector<PlantedFault>& faults);

}  // namespace graphsan::faults
