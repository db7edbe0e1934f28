#include "probes/fault_registry.hpp"

#include <algorithm>

#include "probes/fault_mechanisms.hpp"

namespace graphsan::faults {

namespace {

std::vector<PlantedFault> make_faults() {
  std::vector<PlantedFault> faults;
  add_elided_write_faults(faults);
  add_branch_at_capture_faults(faults);
  add_escaped_launch_faults(faults);
  add_frozen_scalar_faults(faults);
  add_frozen_rng_faults(faults);
  add_moved_buffer_faults(faults);
  add_stale_contents_faults(faults);
  add_freed_memory_faults(faults);
  add_replaced_workspace_faults(faults);
  add_pool_alias_faults(faults);
  add_dead_host_memory_faults(faults);
  add_padding_write_faults(faults);
  add_padding_leak_faults(faults);
  add_padding_metadata_faults(faults);
  add_capture_side_effect_faults(faults);
  add_wrong_graph_faults(faults);
  add_missing_dependency_faults(faults);
  add_missing_reset_faults(faults);
  add_racy_staging_faults(faults);
  add_uninitialized_read_faults(faults);
  add_wrong_scale_faults(faults);
  add_numeric_noise_faults(faults);
  add_unstable_eager_faults(faults);
  add_topk_tie_faults(faults);
  add_wrong_everywhere_faults(faults);
  return faults;
}

}  // namespace

// The one file that knows every planted fault.
const std::vector<PlantedFault>& planted_faults() {
  static const std::vector<PlantedFault> faults = make_faults();
  return faults;
}

const PlantedFault* find_fault(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view id = name.substr(0, colon);
  const std::string_view variant =
      colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1);
  const std::vector<PlantedFault>& faults = planted_faults();
  const auto found = std::find_if(faults.begin(), faults.end(), [&](const PlantedFault& fault) {
    return fault.id == id && (colon == std::string_view::npos || fault.variant == variant);
  });
  return found == faults.end() ? nullptr : &*found;
}

}  // namespace graphsan::faults
